import { randomUUID } from 'node:crypto';
import type { WireResponse } from '../../support/listen';
import type { NodeProcess } from '../../support/servers/node-process';
import { PostgresServer } from '../../support/servers/postgres-server';
import { RedisServer } from '../../support/servers/redis-server';
import { book, BookingService, texts } from './booking-service';

/** What must hold while a real store is down or hangs, in two processes; `store-faults.spec.ts` has it at each call. */

const STORE_TIMEOUT = 500;
/** Half a second above the time-out of the store, and more on a busy machine; a hang would be far longer. */
const BOUND = STORE_TIMEOUT + 10_000;

const timed = async (answer: Promise<WireResponse>): Promise<WireResponse & { ms: number }> => {
  const started = performance.now();
  return { ...(await answer), ms: performance.now() - started };
};

/** Sends until the answer is no 503: what a client does that has been told to retry. */
async function persist(process: NodeProcess, key: string): Promise<WireResponse> {
  for (;;) {
    const answer = await book(process, key);
    if (answer.status !== 503) return answer;
  }
}

describe.each<[string, () => Promise<RedisServer | PostgresServer>]>([
  ['Redis', () => RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always')],
  ['PostgreSQL', () => PostgresServer.start()],
])('a %s that fails', (_store, open) => {
  let store: RedisServer | PostgresServer;
  let service: BookingService;
  let processes: readonly [NodeProcess, NodeProcess];
  let before: WireResponse;

  beforeEach(async () => {
    store = await open();
    service = new BookingService();
    const options = { storeTimeout: STORE_TIMEOUT };
    const start = () => service.start({ STORE_URL: store.url }, options);
    processes = await Promise.all([start(), start()]);
    before = await book(processes[0], 'before');
    expect((await book(processes[1], 'before')).text).toBe(before.text);
  });
  afterEach(async () => {
    await service.stop();
    await store.stop();
  });

  it('is a 503 with Retry-After in time while it is down, runs nothing, and works again when it is back', async () => {
    await store.kill();
    const key = randomUUID();
    const bookings = Array.from({ length: 20 }, (_, at) => book(processes[at % 2 ? 0 : 1], key));
    for (const { status, headers, ms, text } of await Promise.all(bookings.map(timed))) {
      expect([status, headers['retry-after'], ms < BOUND]).toEqual([503, '1', true]);
      expect(JSON.parse(text)).toMatchObject({ type: 'urn:bindonce:store-unavailable', status: 503 });
    }
    expect(service.runs(key)).toBe(0);
    await store.up();
    const answers = await Promise.all(processes.map(one => persist(one, key)));
    expect([answers[0]?.status, texts(answers).length, service.runs(key)]).toEqual([201, 1, 1]);
    expect((await persist(processes[1], 'before')).text).toBe(before.text);
  });

  it('is a 503 in time while it hangs, and gives back what it acquires late', async () => {
    await store.pause();
    const key = randomUUID();
    const [refused, unread] = await Promise.all([timed(book(processes[0], key)), timed(book(processes[1], 'before'))]);
    store.resume();
    for (const { status, ms } of [refused, unread]) expect([status, ms < BOUND]).toEqual([503, true]);
    const answers = await Promise.all(processes.map(one => persist(one, key)));
    expect([answers[0]?.status, texts(answers).length, service.runs(key)]).toEqual([201, 1, 1]);
    expect((await persist(processes[1], 'before')).text).toBe(before.text);
    expect(service.runs('before')).toBe(1);
  });

  it('keeps no answer from a client when it dies under a handler, and lets a waiting duplicate go with 503', async () => {
    const key = randomUUID();
    const answer = timed(book(processes[0], key, { work: 800 }));
    await processes[0].printed(new RegExp(`^started ${key}`));
    const waiting = book(processes[1], key);
    await store.kill();
    const { status, ms } = await answer;
    expect([status, ms < 800 + BOUND, (await waiting).status, service.runs(key)]).toEqual([201, true, 503, 1]);
    expect(processes[0].output).toContain(`event not-stored ${key}`);
  });
});
