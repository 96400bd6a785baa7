import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { multipart } from '../support/multipart';
import { send } from '../support/listen';
import { MemoryLimit } from '../support/memory-limit';
import { RawClient } from '../support/raw-client';
import { NodeProcess } from '../support/servers/node-process';

const MIB = 1_048_576;
const { body } = multipart([{ name: 'photos', filename: 'a.png', value: Buffer.alloc(10 * MIB - 200) }], 'b1');
const almostAll = body.subarray(0, -1);

it('of a process that may use 256 MiB, uploads in memory take an eighth: of 80 clients with 10 MiB each, it serves three', async () => {
  const limit = MemoryLimit.of(256 * MIB);
  const script = join(__dirname, '../support/programs/upload-server.mjs');
  const server = await NodeProcess.start(script, {}, limit.shell);
  const { port } = new URL(server.url);
  const held = async (): Promise<number> =>
    (JSON.parse((await send(`${server.url}/state`, { method: 'GET' })).text) as { held: number }).held;
  const clients = await Promise.all(
    Array.from({ length: 80 }, async () => {
      const client = new RawClient(Number(port));
      await client.send(
        `POST /memory HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b1\r\nContent-Length: ${body.length}\r\n\r\n`,
      );
      await client.send(almostAll);
      return client;
    }),
  );
  const served = (): RawClient[] => clients.filter(({ text }) => text === '');
  while ((await held()) !== served().length * almostAll.length * 8) await turn();
  const waiting = served();
  for (const client of waiting) await client.send(body.subarray(-1));
  expect(await Promise.all(waiting.map(client => client.status(10_000)))).toEqual([200, 200, 200]);
  for (const client of clients) client.leave();
  while ((await held()) !== 0) await turn();
  await server.kill();
  limit.remove();
});
