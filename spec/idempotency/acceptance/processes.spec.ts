import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { withLeaseThatLasts } from '../../support/lease-that-lasts';
import { send, type WireResponse } from '../../support/listen';
import type { NodeProcess } from '../../support/servers/node-process';
import { anyPostgres } from '../../support/servers/postgres-server';
import { RedisServer } from '../../support/servers/redis-server';
import { TcpProxy } from '../../support/servers/tcp-proxy';
import { book, BookingService, texts, type Run } from './booking-service';

/** What has broken in other libraries, and must hold among real processes. */

/** Milliseconds by which a busy machine may be late. */
const SLACK = 10_000;

/** A lease that only a process loses that is stopped: one that is merely late holds it. */
const LONG_LEASE = { leaseDuration: 20_000 };

let redis: RedisServer;
let service: BookingService;
let key: string;

const start = (options: object = {}, env: Readonly<Record<string, string>> = {}): Promise<NodeProcess> =>
  service.start({ STORE_URL: redis.url, ...env }, options);
const startAll = <T extends readonly object[]>(...options: T) =>
  Promise.all(options.map(one => start(one))) as Promise<{ [K in keyof T]: NodeProcess }>;
/** A request whose process may be killed, or close the connection. */
const bookAndLose = (process: NodeProcess, run: Run): Promise<unknown> => book(process, key, run).catch(() => 'lost');

beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis.stop());
beforeEach(() => {
  service = new BookingService();
  key = randomUUID();
});
afterEach(() => service.stop());

it('the process of a handler is killed: a duplicate that waits elsewhere runs when the lease is over, not long after', async () => {
  const lease = 600;
  const [a, b] = await startAll({ leaseDuration: lease }, LONG_LEASE);
  const lost = bookAndLose(a, { work: 60_000 });
  await a.printed(/^started/);
  await a.kill();
  const killed = performance.now();
  expect(await lost).toBe('lost');
  const answer = await book(b, key);
  expect(performance.now() - killed).toBeLessThan(lease + SLACK);
  expect([answer.status, service.runs(key), texts([answer, await book(b, key)]).length]).toEqual([201, 2, 1]);
});

it('a handler rejects on Express 4, which ends its process: its key is usable again when the lease is over', async () => {
  const a = await start({ leaseDuration: 400 }, { EXPRESS: 'express4', SURVIVE: 'no' });
  const b = await start(LONG_LEASE, { EXPRESS: 'express4' });
  expect(await bookAndLose(a, { then: 'reject' })).toBe('lost');
  expect(await a.ended()).toBe(1);
  const started = performance.now();
  expect((await book(b, key)).status).toBe(201);
  expect(performance.now() - started).toBeLessThan(400 + SLACK);
  expect(service.runs(key)).toBe(2);
});

it('a handler takes five leases, with duplicates all the while: one run', async () => {
  await withLeaseThatLasts(async leaseDuration => {
    const one = randomUUID();
    const options = { leaseDuration, waitTimeout: 300_000 };
    const [a, b] = await startAll(options, options);
    const answers: Promise<WireResponse>[] = [book(a, one, { work: 5.2 * leaseDuration })];
    await a.printed(/^started/);
    const state = { isOver: false };
    void answers[0]?.then(() => (state.isOver = true));
    for (; !state.isOver; await pause(leaseDuration / 10)) answers.push(book(a, one), book(b, one));
    expect(texts(await Promise.all(answers))).toHaveLength(1);
    expect(answers.length).toBeGreaterThan(20);
    const losses = [...a.output, ...b.output].filter(line => line.startsWith('event lease-lost')).length;
    return { runs: service.runs(one), losses };
  });
}, 400_000);

it.each(['answer', 'forget'] as const)(
  'a holder is stopped past its lease and resumed after a takeover: its signal says so, and its late %s has no effect',
  async then => {
    const [a, b] = await startAll({ leaseDuration: 300 }, LONG_LEASE);
    const stopped = bookAndLose(a, { stops: true, work: 200, then });
    await a.printed(/^started/);
    const published = await book(b, key);
    a.signal('SIGCONT');
    await a.printed(/^aborted/);
    // An overtaken answer is not sent: the client's retry gets the other's.
    expect(await stopped).toBe('lost');
    expect(texts([published, await book(a, key), await book(b, key)])).toHaveLength(1);
    expect([published.status, service.runs(key)]).toEqual([201, 2]);
  },
);

it.each(['answer', 'forget'] as const)(
  'a holder is stopped past its lease, the next holder releases and a third acquires: a late %s of the first has no effect',
  async then => {
    const [a, b, c] = await startAll({ leaseDuration: 400 }, LONG_LEASE, LONG_LEASE);
    const first = bookAndLose(a, { stops: true, work: 200, then });
    await a.printed(/^started/);
    await book(b, key, { then: 'forget' });
    const third = book(c, key, { work: 1_000 });
    await c.printed(/^started/);
    a.signal('SIGCONT');
    await a.printed(/^event lease-lost/);
    expect(texts(await Promise.all([third, book(a, key), book(b, key), book(c, key)]))).toHaveLength(1);
    // An overtaken answer is not sent, whether it was to be kept or not.
    expect([await first, service.runs(key)]).toEqual(['lost', 3]);
  },
);

it('the store carries out an acquire and its answer is lost: one run; the same holds for every other answer that a request waits for', async () => {
  const proxy = await TcpProxy.before(redis.port);
  const a = await start({}, { STORE_URL: `redis://127.0.0.1:${proxy.port}` });
  const b = await start();
  await Promise.all([book(a, randomUUID()), book(b, randomUUID())]);
  // Of a first request: acquire, then write and complete together. Of a replay: acquire, read.
  for (const count of [0, 1]) {
    const one = randomUUID();
    const lost = proxy.loseAfter(count);
    const answer = await book(a, one);
    expect(await lost).not.toMatch(/^-/);
    expect([answer.status, answer.text]).toEqual([201, (await book(b, one)).text]);
    const lostOfReplay = proxy.loseAfter(count);
    expect((await book(a, one)).text).toBe(answer.text);
    expect(await lostOfReplay).not.toMatch(/^-/);
    expect(service.runs(one)).toBe(1);
  }
  await proxy.close();
});

it.each([
  ['Redis, on Express 5', {}],
  ['Redis, on Express 4', { EXPRESS: 'express4' }],
  ['PostgreSQL', { STORE_URL: 'postgres' }],
])(
  'of 20 and of 200 concurrent duplicates in three processes on %s, exactly one runs, and all get its answer',
  async (_store, env: Readonly<Record<string, string>>) => {
    const postgres = env['STORE_URL'] === undefined ? undefined : await anyPostgres();
    const processes = await Promise.all(
      [1, 2, 3].map(() => start({}, { ...env, ...(postgres && { STORE_URL: postgres.url }) })),
    );
    for (const count of [20, 200]) {
      const one = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: count }, (_, at) => book(processes[at % 3] as NodeProcess, one, { work: 50 })),
      );
      const firsts = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
      expect([service.runs(one), texts(answers).length, answers[0]?.status, firsts.length]).toEqual([1, 1, 201, 1]);
    }
    await service.stop();
    await postgres?.stop();
  },
);

it.each(['exit', 'exitAtOnce', 'exitOnceWritten'].flatMap(then => ['express', 'express4'].map(name => [then, name])))(
  'server.close() and process.exit() right after a response (%s, %s): the retry on another process replays',
  async (then = '', EXPRESS = '') => {
    const [a, b] = await Promise.all([start({}, { EXPRESS }), start({}, { EXPRESS })]);
    // A client that keeps its connection open, as browsers do.
    const headers = { 'Idempotency-Key': key, 'X-Then': then };
    const text = await (await fetch(`${a.url}/bookings`, { method: 'POST', headers })).text();
    expect(await a.ended()).toBe(0);
    const retry = await book(b, key);
    expect([retry.status, retry.text, retry.headers['idempotent-replayed']]).toEqual([201, text, 'true']);
    expect(service.runs(key)).toBe(1);
  },
);

it('a process in memory that stands still for longer than a lease, while handlers run and duplicates wait, runs each request once: nobody else could have taken over', async () => {
  const LEASE = 300;
  const keys = Array.from({ length: 5 }, (_, at) => `k${at}`);
  const server = await start({ leaseDuration: LEASE }, { STORE_URL: '' });
  const bookAll = () => keys.map(one => book(server, one, { work: 16 * LEASE }));
  const answers = bookAll();
  for (const one of keys) await server.printed(new RegExp(`^started ${one}`));
  answers.push(...bookAll());
  for (let time = 0; time < 3; time++) {
    const stalled = send(`${server.url}/stall/${4 * LEASE}`, { method: 'GET' });
    // These are read from their sockets in the instant after.
    answers.push(...bookAll());
    await stalled;
  }
  expect(texts(await Promise.all(answers))).toHaveLength(keys.length);
  expect(keys.map(one => service.runs(one))).toEqual(keys.map(() => 1));
  expect(server.output.filter(line => line.startsWith('event lease-lost'))).toEqual([]);
});
