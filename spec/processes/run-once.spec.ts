import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { send, type WireResponse } from '../support/listen';
import { NodeProcess } from '../support/servers/node-process';
import { anyRedis } from '../support/servers/redis-server';
import { RunLog } from '../support/run-log';

const script = join(__dirname, '../support/programs/order-server.mjs');

describe('several processes on one Redis', () => {
  const log = new RunLog();
  let redis: Awaited<ReturnType<typeof anyRedis>>;
  let processes: NodeProcess[];

  const start = (options: object = {}): Promise<NodeProcess> =>
    NodeProcess.start(script, { REDIS_URL: redis.url, LOG: log.file, OPTIONS: JSON.stringify(options) });
  const order = ({ url }: NodeProcess, key: string, work = 0, stops = false): Promise<WireResponse> =>
    send(`${url}/orders`, {
      headers: { 'Idempotency-Key': key, 'X-Work': String(work), 'X-Stop': String(stops) },
    });

  beforeAll(async () => {
    redis = await anyRedis();
  });
  beforeEach(() => {
    processes = [];
  });
  afterEach(() => Promise.all(processes.map(one => one.kill())));
  afterAll(async () => {
    await redis.stop();
    log.remove();
  });

  it.each([20, 200])('run %i concurrent duplicates once and give all the same answer', async count => {
    const [a, b, c] = (processes = (await Promise.all([start(), start(), start()])) as [
      NodeProcess,
      NodeProcess,
      NodeProcess,
    ]);
    const key = randomUUID();
    const targets = [a, b, c];
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => order(targets[index % 3] ?? a, key, 200)),
    );
    expect(log.runs(key)).toBe(1);
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
  });

  it('run many keys once each when every key is sent to every process at once', async () => {
    processes = await Promise.all([start(), start()]);
    const keys = Array.from({ length: 100 }, () => randomUUID());
    const answers = await Promise.all(keys.map(key => Promise.all(processes.map(one => order(one, key, 5)))));
    expect(keys.map(key => log.runs(key))).toEqual(keys.map(() => 1));
    for (const [one, other] of answers) expect(other?.text).toBe(one?.text);
  });

  it('hand a key on when the process that runs it is killed, not before its lease has run out and not long after', async () => {
    const lease = 600;
    const [a, b] = (processes = (await Promise.all([start({ leaseDuration: lease }), start()])) as [
      NodeProcess,
      NodeProcess,
    ]);
    const key = randomUUID();
    const lost = order(a, key, 60_000).catch(() => 'connection lost');
    await a.printed(/^started/);
    const killed = performance.now();
    await a.kill();
    expect(await lost).toBe('connection lost');
    const answer = await order(b, key);
    expect(answer.status).toBe(201);
    expect(performance.now() - killed).toBeLessThan(lease + 10_000);
    expect(log.runs(key)).toBe(2);
    expect((await order(b, key)).text).toBe(answer.text);
  });

  it('publish one result when an owner is stopped past its lease and comes back', async () => {
    const [a, b] = (processes = (await Promise.all([start({ leaseDuration: 400 }), start()])) as [
      NodeProcess,
      NodeProcess,
    ]);
    const key = randomUUID();
    const stopped = order(a, key, 300, true).catch(() => 'connection closed');
    await a.printed(/^started/);
    const published = await order(b, key);
    a.signal('SIGCONT');
    expect(published.status).toBe(201);
    // What the first owner has to say is not sent: its client's retry gets the published answer.
    expect(await stopped).toBe('connection closed');
    await a.printed(/^event lease-lost/);
    expect((await order(a, key)).text).toBe(published.text);
    expect((await order(b, key)).text).toBe(published.text);
    expect(log.runs(key)).toBe(2);
  });

  it('tell a handler through its signal that the lease is lost', async () => {
    const [a, b] = (processes = (await Promise.all([start({ leaseDuration: 300 }), start()])) as [
      NodeProcess,
      NodeProcess,
    ]);
    const key = randomUUID();
    const stopped = order(a, key, 2_000, true).catch(() => 'connection closed');
    await a.printed(/^started/);
    await order(b, key);
    a.signal('SIGCONT');
    await a.printed(/^aborted/);
    expect(await stopped).toBe('connection closed');
  });

  it('replay on another process what a process answered right before it ended', async () => {
    const [a, b] = (processes = (await Promise.all([start(), start()])) as [NodeProcess, NodeProcess]);
    const key = randomUUID();
    const last = await send(`${a.url}/last`, { headers: { 'Idempotency-Key': key } });
    expect(await a.ended()).toBe(0);
    const retry = await send(`${b.url}/last`, { headers: { 'Idempotency-Key': key } });
    expect(retry.text).toBe(last.text);
    expect(retry.headers['idempotent-replayed']).toBe('true');
  });
});
