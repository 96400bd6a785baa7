import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { WireResponse } from '../../support/listen';
import type { NodeProcess } from '../../support/servers/node-process';
import { withLeaseThatLasts } from '../../support/lease-that-lasts';
import { RedisServer } from '../../support/servers/redis-server';
import { TcpProxy } from '../../support/servers/tcp-proxy';
import { book, BookingService } from './booking-service';

/** What has broken in other libraries, and must hold among real processes on a real Redis. */

/** Milliseconds by which a busy machine may be late. */
const SLACK = 10_000;

/** A lease that only a process loses that is stopped: one that is merely late holds it. */
const LONG_LEASE = { leaseDuration: 20_000 };

const isLoss = (line: string): boolean => line.startsWith('event lease-lost');

const texts = (answers: readonly WireResponse[]): Set<string> =>
  new Set(answers.map(({ status, text }) => `${status} ${text}`));

describe('processes', () => {
  let redis: RedisServer;
  let service: BookingService;
  let key: string;

  const start = (options: object = {}, env: Readonly<Record<string, string>> = {}): Promise<NodeProcess> =>
    service.start({ REDIS_URL: redis.url, ...env }, options);
  const startAll = <T extends readonly object[]>(...options: T) =>
    Promise.all(options.map(one => start(one))) as Promise<{ [K in keyof T]: NodeProcess }>;

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());
  beforeEach(() => {
    service = new BookingService();
    key = randomUUID();
  });
  afterEach(() => service.stop());

  it('the process of a handler is killed: its key is usable again when the lease is over', async () => {
    const lease = 500;
    const [a, b] = await startAll({ leaseDuration: lease }, { ...LONG_LEASE, whenInFlight: 'reject' });
    const lost = book(a, key, { work: 60_000 }).catch(() => 'lost');
    await a.printed(/^started/);
    await a.kill();
    const killed = performance.now();
    expect(await lost).toBe('lost');
    let answer = await book(b, key);
    for (; answer.status === 409; answer = await book(b, key)) await pause(20);
    expect([answer.status, service.log.runs(key)]).toEqual([201, 2]);
    expect(performance.now() - killed).toBeLessThan(lease + SLACK);
  });

  it('a handler rejects on Express 4, which ends its process: its key is usable again when the lease is over', async () => {
    const a = await start({ leaseDuration: 400 }, { EXPRESS: 'express4', SURVIVE: 'no' });
    const b = await start(LONG_LEASE, { EXPRESS: 'express4' });
    expect(await book(a, key, { then: 'reject' }).catch(() => 'lost')).toBe('lost');
    expect(await a.ended()).toBe(1);
    const started = performance.now();
    expect((await book(b, key)).status).toBe(201);
    expect(performance.now() - started).toBeLessThan(400 + SLACK);
    expect(service.log.runs(key)).toBe(2);
  });

  it('a handler takes five leases, with duplicates all the while: one run', async () => {
    await withLeaseThatLasts(async leaseDuration => {
      const one = randomUUID();
      const options = { leaseDuration, waitTimeout: 300_000 };
      const [a, b] = await startAll(options, options);
      const answers: Promise<WireResponse>[] = [book(a, one, { work: 5.2 * leaseDuration })];
      await a.printed(/^started/);
      let over = false;
      void answers[0]?.then(() => {
        over = true;
      });
      const isOver = (): boolean => over;
      while (!isOver()) {
        answers.push(book(a, one), book(b, one));
        await pause(leaseDuration / 10);
      }
      expect(texts(await Promise.all(answers)).size).toBe(1);
      expect(answers.length).toBeGreaterThan(20);
      return { runs: service.log.runs(one), losses: [...a.output, ...b.output].filter(isLoss).length };
    });
  }, 400_000);

  it('a holder is stopped past its lease and resumed after a takeover: its late release has no effect', async () => {
    const [a, b] = await startAll({ leaseDuration: 300 }, LONG_LEASE);
    const stopped = book(a, key, { stops: true, work: 200, then: 'forget' }).catch(() => 'connection closed');
    await a.printed(/^started/);
    const published = await book(b, key);
    a.signal('SIGCONT');
    // An overtaken answer is not sent: the client's retry gets the other's.
    expect(await stopped).toBe('connection closed');
    expect(texts([published, await book(a, key), await book(b, key)]).size).toBe(1);
    expect(service.log.runs(key)).toBe(2);
  });

  it.each(['answer', 'forget'] as const)(
    'a holder is stopped past its lease, the next holder releases and a third acquires: a late %s of the first has no effect',
    async then => {
      const [a, b, c] = await startAll({ leaseDuration: 400 }, LONG_LEASE, LONG_LEASE);
      const first = book(a, key, { stops: true, work: 200, then }).catch(() => 'connection closed');
      await a.printed(/^started/);
      await book(b, key, { then: 'forget' });
      const third = book(c, key, { work: 1_000 });
      await c.printed(/^started/);
      a.signal('SIGCONT');
      await a.printed(/^event lease-lost/);
      const duplicates = [book(a, key), book(b, key), book(c, key)];
      expect(texts([await third, ...(await Promise.all(duplicates))]).size).toBe(1);
      // An overtaken answer is not sent, whether it was to be kept or not.
      expect(await first).toBe('connection closed');
      expect(service.log.runs(key)).toBe(3);
    },
  );

  it('the store carries out an acquire and its answer is lost: one run; the same holds for every other answer that a request waits for', async () => {
    const proxy = await TcpProxy.before(redis.port);
    const a = await start({}, { REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
    const b = await start();
    await Promise.all([book(a, randomUUID()), book(b, randomUUID())]);
    // Of a first request: acquire, then write and complete together. Of a replay: acquire, read.
    for (const count of [0, 1]) {
      const one = randomUUID();
      const lost = proxy.loseAfter(count);
      const answer = await book(a, one);
      expect(await lost).not.toMatch(/^-/);
      expect([answer.status, answer.text]).toEqual([201, (await book(b, one)).text]);
      expect(service.log.runs(one)).toBe(1);
      const lostOfReplay = proxy.loseAfter(count);
      expect((await book(a, one)).text).toBe(answer.text);
      expect(await lostOfReplay).not.toMatch(/^-/);
      expect(service.log.runs(one)).toBe(1);
    }
    await proxy.close();
  });

  describe.each(['express', 'express4'])('with %s', EXPRESS => {
    it('of 20 and of 200 concurrent duplicates in several processes, exactly one runs, and all get its answer', async () => {
      const processes = await Promise.all([1, 2, 3].map(() => start({}, { EXPRESS })));
      for (const count of [20, 200]) {
        const one = randomUUID();
        const answers = await Promise.all(
          Array.from({ length: count }, (_, index) =>
            book(processes[index % processes.length] as NodeProcess, one, { work: 50 }),
          ),
        );
        expect([service.log.runs(one), texts(answers).size, answers[0]?.status]).toEqual([1, 1, 201]);
      }
    });

    it.each(['exit', 'exitAtOnce', 'exitOnceWritten'] as const)(
      'server.close() and process.exit() right after a response (%s): the retry on another process replays',
      async then => {
        const [a, b] = await Promise.all([start({}, { EXPRESS }), start({}, { EXPRESS })]);
        // A client that keeps its connection open, as browsers do.
        const answer = await fetch(`${a.url}/bookings`, {
          method: 'POST',
          headers: { 'Idempotency-Key': key, 'X-Then': then },
        });
        const text = await answer.text();
        expect(await a.ended()).toBe(0);
        const retry = await book(b, key);
        expect([retry.status, retry.text, retry.headers['idempotent-replayed']]).toEqual([201, text, 'true']);
        expect(service.log.runs(key)).toBe(1);
      },
    );
  });
});
