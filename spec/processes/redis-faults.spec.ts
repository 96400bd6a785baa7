import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { send, type WireResponse } from '../support/listen';
import { NodeProcess } from '../support/servers/node-process';
import { RedisServer } from '../support/servers/redis-server';
import { RunLog } from '../support/run-log';

const script = join(__dirname, '../support/programs/order-server.mjs');
const STORE_TIMEOUT = 500;
/** Half a second above the time-out of the store, and more on a busy machine; a hang would be far longer. */
const BOUND = STORE_TIMEOUT + 10_000;

describe('a Redis that fails', () => {
  const log = new RunLog();
  let redis: RedisServer;
  let a: NodeProcess;
  let b: NodeProcess;

  const start = (options: object = {}): Promise<NodeProcess> =>
    NodeProcess.start(script, {
      REDIS_URL: redis.url,
      LOG: log.file,
      OPTIONS: JSON.stringify({ storeTimeout: STORE_TIMEOUT, leaseDuration: 1_000, ...options }),
    });
  const order = ({ url }: NodeProcess, key: string, work = 0): Promise<WireResponse> =>
    send(`${url}/orders`, { headers: { 'Idempotency-Key': key, 'X-Work': String(work) } });
  const timed = async (answer: Promise<WireResponse>): Promise<WireResponse & { ms: number }> => {
    const started = performance.now();
    return { ...(await answer), ms: performance.now() - started };
  };
  /** Sends until the answer is no 503: what a client does that has been told to retry. */
  const persist = async (process: NodeProcess, key: string): Promise<WireResponse> => {
    for (;;) {
      const answer = await order(process, key);
      if (answer.status !== 503) return answer;
    }
  };

  beforeEach(async () => {
    redis = await RedisServer.start();
    [a, b] = await Promise.all([start(), start()]);
    await Promise.all([order(a, randomUUID()), order(b, randomUUID())]);
  });
  afterEach(async () => {
    expect([...a.output, ...b.output].filter(line => line.startsWith('unhandled'))).toEqual([]);
    await Promise.all([a.kill(), b.kill()]);
    await redis.stop();
  });
  afterAll(() => {
    log.remove();
  });

  it('answers 503 with Retry-After in time while it is down, runs nothing, and works again when it is back', async () => {
    await redis.kill();
    const key = randomUUID();
    const refused = await Promise.all(Array.from({ length: 20 }, (_, index) => timed(order(index % 2 ? a : b, key))));
    for (const { status, headers, ms, text } of refused) {
      expect(status).toBe(503);
      expect(headers['retry-after']).toBe('1');
      expect(JSON.parse(text)).toMatchObject({ type: 'urn:bindonce:store-unavailable', status: 503 });
      expect(ms).toBeLessThan(BOUND);
    }
    expect(log.runs(key)).toBe(0);
    await redis.up();
    const answers = await Promise.all([persist(a, key), persist(b, key)]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(log.runs(key)).toBe(1);
  });

  it('answers 503 in time while it hangs; the acquisition that it carries out late is given back', async () => {
    redis.pause();
    const key = randomUUID();
    const { status, ms } = await timed(order(a, key));
    redis.resume();
    expect(status).toBe(503);
    expect(ms).toBeLessThan(BOUND);
    expect((await persist(b, key)).status).toBe(201);
    expect(log.runs(key)).toBe(1);
  });

  it('does not keep an answer from the client when it dies under a running handler', async () => {
    const key = randomUUID();
    const answer = timed(order(a, key, 300));
    await a.printed(new RegExp(`^started ${key}`));
    await redis.kill();
    const { status, ms } = await answer;
    expect(status).toBe(201);
    expect(ms).toBeLessThan(300 + BOUND);
    expect(a.output).toContain(`event not-stored ${key}`);
    expect(log.runs(key)).toBe(1);
  });

  it('answers 503 in time when it hangs at the reading of a stored response', async () => {
    const key = randomUUID();
    const first = await order(a, key);
    redis.pause();
    const { status, ms } = await timed(order(b, key));
    redis.resume();
    expect(status).toBe(503);
    expect(ms).toBeLessThan(BOUND);
    expect((await persist(b, key)).text).toBe(first.text);
    expect(log.runs(key)).toBe(1);
  });

  it('lets a waiting duplicate go with 503 when it dies, and not hang', async () => {
    const key = randomUUID();
    const first = order(a, key, 800);
    await a.printed(new RegExp(`^started ${key}`));
    const waiting = order(b, key);
    await redis.kill();
    expect((await waiting).status).toBe(503);
    expect((await first).status).toBe(201);
    expect(log.runs(key)).toBe(1);
  });

  it('runs without the guarantee when the application prefers that', async () => {
    const c = await start({ whenStoreFails: 'run' });
    await redis.kill();
    const key = randomUUID();
    const { status, ms } = await timed(order(c, key));
    expect(status).toBe(201);
    expect(ms).toBeLessThan(BOUND);
    expect(c.output).toContain(`event store-failed ${key}`);
    await c.kill();
  });
});
