import { join } from 'node:path';
import { send, type WireResponse } from '../support/listen';
import { NodeProcess } from '../support/servers/node-process';

const script = join(__dirname, '../support/programs/stalling-server.mjs');
const LEASE = 300;
const KEYS = Array.from({ length: 5 }, (_, index) => `k${index}`);

describe('a process that is stopped for longer than a lease in memory', () => {
  let server: NodeProcess;
  beforeEach(async () => {
    server = await NodeProcess.start(script, { OPTIONS: JSON.stringify({ leaseDuration: LEASE }) });
  });
  afterEach(() => server.kill());

  const order = (key: string, work: number): Promise<WireResponse> =>
    send(server.url, { headers: { 'Idempotency-Key': key, 'X-Work': String(work) } });
  const stall = (ms: number): Promise<WireResponse> => send(`${server.url}/stall/${ms}`, { method: 'GET' });

  it.each([
    ['once', 1],
    ['three times', 3],
  ])(
    '%s, while handlers run and duplicates wait, runs each request once: nobody else could have taken over',
    async (_title, times) => {
      const work = (times + 1) * 4 * LEASE;
      const first = KEYS.map(key => order(key, work));
      for (const key of KEYS) await server.printed(new RegExp(`^started ${key}`));
      const duplicates = KEYS.map(key => order(key, work));
      for (let time = 0; time < times; time++) {
        const stalled = stall(4 * LEASE);
        // These are read from their sockets in the instant after.
        duplicates.push(...KEYS.map(key => order(key, work)));
        await stalled;
      }
      const texts = (answers: readonly WireResponse[]): string[] => answers.map(({ text }) => text);
      expect(new Set(texts(await Promise.all([...first, ...duplicates])))).toEqual(
        new Set(texts(await Promise.all(first))),
      );
      expect(server.output.filter(line => line.startsWith('started'))).toHaveLength(KEYS.length);
      expect(server.output.filter(line => line.startsWith('event lease-lost'))).toEqual([]);
    },
  );
});
