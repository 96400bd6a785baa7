import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { multipart } from '../../support/multipart';
import { send } from '../../support/listen';
import { MemoryLimit } from '../../support/memory-limit';
import { RawClient } from '../../support/raw-client';
import { NodeProcess } from '../../support/servers/node-process';
import { SmallDisk } from '../../support/small-disk';

const MIB = 1_048_576;
const CLIENTS = 80;
const { body } = multipart([{ name: 'photos', filename: 'a.png', value: Buffer.alloc(10 * MIB - 200) }], 'b1');
const almostAll = body.subarray(0, -1);

interface State {
  readonly held: number;
}

describe('of a process that may use 256 MiB', () => {
  const disk = SmallDisk.mount(1_000);
  const limit = MemoryLimit.of(256 * MIB);
  let server: NodeProcess;
  beforeEach(async () => {
    const TMPDIR = disk?.path ?? '/dev/shm';
    const script = join(__dirname, '../../support/programs/upload-server.mjs');
    server = await NodeProcess.start(script, { TMPDIR, DIRECTORY: TMPDIR }, limit.shell);
  });
  afterEach(() => server.kill());
  afterAll(() => {
    limit.remove();
    disk?.unmount();
  });

  const held = async (): Promise<State['held']> =>
    (JSON.parse((await send(`${server.url}/state`, { method: 'GET' })).text) as State).held;

  it.each([
    ['bodies that wait on a RAM disk', 'a quarter', '/guarded', 4, 6],
    ['uploads on a RAM disk', 'a quarter', '/disk', 4, 6],
    ['uploads in memory', 'an eighth', '/memory', 8, 3],
  ] as const)('%s take at most %s: of 80 clients with 10 MiB each, it serves those that fit', async (...row) => {
    const [, , path, weight, fitting] = row;
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, async (_, index) => {
        const client = new RawClient(Number(new URL(server.url).port));
        await client.send(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: ${index}\r\nContent-Type: multipart/form-data; boundary=b1\r\nContent-Length: ${body.length}\r\n\r\n`,
        );
        await client.send(almostAll);
        return client;
      }),
    );
    const served = (): RawClient[] => clients.filter(({ text }) => text === '');
    while ((await held()) !== served().length * almostAll.length * weight) await turn();
    expect(served()).toHaveLength(fitting);
    const waiting = served();
    for (const client of waiting) await client.send(body.subarray(-1));
    expect(await Promise.all(waiting.map(client => client.status(10_000)))).toEqual(Array(fitting).fill(200));
    for (const client of clients) client.leave();
    while ((await held()) !== 0) await turn();
  });
});
