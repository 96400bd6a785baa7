import { setTimeout as pause } from 'node:timers/promises';
import KeyvRedis, { createClient } from '@keyv/redis';
import Keyv from 'keyv';
import { redisLeases, type IdempotencyOptions, type LeaseStore, type RequestIdempotency } from '../../../lib';
import { guarded } from '../../support/guarded';
import type { WireResponse } from '../../support/listen';
import { anyRedis, RedisServer } from '../../support/servers/redis-server';
import { TcpProxy } from '../../support/servers/tcp-proxy';
import { standStill } from '../../support/stand-still';

const STORE_TIMEOUT = 500;
const LEASE = 1_500;

const connect = (port: number) => createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: 20 } });

async function shop(
  options: IdempotencyOptions,
  work: (guard: RequestIdempotency) => unknown,
  afterwards = (): void => undefined,
) {
  const bounds = { storeTimeout: STORE_TIMEOUT, leaseDuration: LEASE, waitTimeout: 100 };
  const { log, runs, post } = await guarded({ ...bounds, ...options }, async (req, res, _next, run) => {
    await work(req.idempotency);
    res.status(201).json({ order: run });
    afterwards();
  });
  /** Sends until the answer is no 503 and no 409: what a client does that has been told to retry. */
  const persist = async (): Promise<WireResponse> => {
    for (;;) {
      const answer = await post();
      if (answer.status !== 503 && answer.status !== 409) return answer;
    }
  };
  return { log, runs, post, persist };
}

describe('a process that is stopped for longer than storeTimeout just after the handler has ended its response', () => {
  let redis: Awaited<ReturnType<typeof anyRedis>>;
  let store: Keyv;
  beforeAll(async () => {
    redis = await anyRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(() => {
    store = new Keyv(new KeyvRedis(redis.url), { namespace: `stall ${Math.random()}` });
  });
  afterEach(() => store.disconnect());

  it.each<[when: string, later: (then: () => void) => unknown]>([
    ['with its next immediate', setImmediate],
    ['once it has sent the response to the store', then => setImmediate(() => void setImmediate(then))],
  ])('%s runs the request once: the client has its answer, and a retry the replay', async (_when, later) => {
    const stall = (): void => void later(() => standStill(STORE_TIMEOUT + 60));
    const { runs, post, persist } = await shop({ store }, () => undefined, stall);
    // The connection to the store is there.
    await store.get('anything');
    expect((await post()).text).toBe('{"order":1}');
    const retried = await persist();
    expect([retried.text, retried.headers['idempotent-replayed']]).toEqual(['{"order":1}', 'true']);
    expect(runs()).toBe(1);
  });
});

describe('a Redis that is out of reach for longer than storeTimeout just when the handler ends', () => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  let store: Keyv;
  let leases: LeaseStore;
  let direct: ReturnType<typeof connect>;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    proxy = await TcpProxy.before(redis.port);
    store = new Keyv(new KeyvRedis(connect(proxy.port)), { namespace: `away ${Math.random()}` });
    store.on('error', () => undefined);
    direct = connect(redis.port);
    await direct.connect();
    leases = redisLeases(direct, { prefix: `${store.namespace}:bindonce:1::lease:` });
  });
  afterEach(async () => {
    direct.destroy();
    await store.disconnect();
    await proxy.close();
  });

  it.each([
    ['for less than a lease', STORE_TIMEOUT + 200],
    ['for longer than the lease, which nobody has taken', LEASE + 500],
  ])('%s: the client gets its answer, a retry meanwhile 409, and a retry afterwards the replay', async (_how, ms) => {
    const { log, runs, post, persist } = await shop({ store }, () => proxy.cut());
    const cut = performance.now();
    const first = await post();
    expect([first.status, first.text]).toEqual([201, '{"order":1}']);
    expect(performance.now() - cut).toBeLessThan(STORE_TIMEOUT + 10_000);
    const meanwhile = await post();
    expect([meanwhile.status, meanwhile.headers['retry-after']]).toEqual([409, '1']);
    await pause(ms - (performance.now() - cut));
    proxy.mend();
    const retried = await persist();
    expect([retried.text, retried.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    expect(runs()).toBe(1);
    expect(log.kinds[0]).toBe('not-stored');
    expect(log.kinds).not.toContain('executed');
  });

  it('keeps the lease from others for as long as it takes, though the response cannot be written', async () => {
    let isFull = true;
    class Full extends Map<string, unknown> {
      override set(key: string, value: unknown): this {
        if (isFull) throw new Error('There is no room');
        return super.set(key, value);
      }
    }
    let cacheKey = '';
    const store = new Keyv({ store: new Full() });
    const { post, persist, runs } = await shop({ store, leases }, own => ({ cacheKey } = own));
    expect((await post()).status).toBe(201);
    const begun = performance.now();
    while (performance.now() - begun < 2 * LEASE) {
      expect(await leases.acquire(cacheKey, 'another', LEASE)).toMatchObject({ kind: 'running' });
      await pause(20);
    }
    isFull = false;
    expect((await persist()).headers['idempotent-replayed']).toBe('true');
    expect(runs()).toBe(1);
  });
});
