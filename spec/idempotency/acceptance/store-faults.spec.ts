import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Keyv } from 'keyv';
import type { IdempotencyOptions, LeaseStore } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded, type Run } from '../../support/guarded';
import { HookedLeases, type Hooks } from '../../support/hooked-leases';
import { keyed } from '../../support/replays';
import { signal } from '../../support/signal';

/** What has broken in other libraries, and must hold while the store is down or hangs, at each of the calls that it is asked. */

const TIMEOUT = 120;
/** A request calls the store at most twice at its end: to write the response and to complete the lease. */
const BOUND = 2 * TIMEOUT + 10_000;

type Call = keyof Hooks | 'read' | 'write';

/** A store that can fail from now on at one of its calls, and come back, and how often its lease was asked for. */
function failingStore(how: 'down' | 'hanging') {
  const fault: { at?: Call | undefined; asked: number } = { asked: 0 };
  const failing = (call: Call): Promise<void> | undefined => {
    if (call === 'acquire') fault.asked++;
    if (fault.at !== call) return undefined;
    return how === 'down' ? Promise.reject(new Error('ECONNREFUSED')) : new Promise<void>(() => undefined);
  };
  class FailingMap extends Map<string, unknown> {
    override get(key: string): unknown {
      return failing('read') ?? super.get(key);
    }
    override set(key: string, value: unknown): this {
      return (failing('write') ?? super.set(key, value)) as this;
    }
  }
  const calls = ['acquire', 'renew', 'complete', 'release'] as const;
  const leases = new HookedLeases(Object.fromEntries(calls.map(call => [call, () => failing(call)])));
  return { fault, options: { store: new Keyv(new FailingMap()), leases, storeTimeout: TIMEOUT, leaseDuration: 200 } };
}

describe.each(
  expressVersions.flatMap(([name, version]) => (['down', 'hanging'] as const).map(how => ({ name, version, how }))),
)('the store is $how ($name)', ({ version, how }) => {
  async function service(
    more: IdempotencyOptions = {},
    act: Run = (_req, res, _next, run) => res.status(201).json({ run }),
  ) {
    const { fault, options } = failingStore(how);
    const served = await guarded({ ...options, ...more }, act, { version });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    /** Asks over one connection that stays open: it has the answer within the bound. */
    const ask = async () => {
      const started = performance.now();
      const sent = request(served.url, { method: 'POST', headers: keyed('k'), agent }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      let text = '';
      for await (const chunk of response) text += String(chunk);
      expect(performance.now() - started).toBeLessThan(BOUND);
      return { status: response.statusCode, text, headers: response.headers, reused: sent.reusedSocket };
    };
    return { ...served, fault, ask, agent, options };
  }

  it.each([
    ['acquire', 'Nothing was executed for this attempt'],
    ['read', 'The request was executed before and is not executed again, but its response cannot be read now'],
  ] as const)('at %s: a bounded 503, on a connection that goes on; nothing runs twice', async (at, detail) => {
    const { fault, server, agent, ask, log, runs } = await service();
    if (at === 'read') await ask();
    fault.at = at;
    const refused = await ask();
    expect(JSON.parse(refused.text)).toMatchObject({
      status: 503,
      type: 'urn:bindonce:store-unavailable',
      detail: expect.stringContaining(detail) as string,
    });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(log.kinds).toContain('store-failed');
    fault.at = undefined;
    expect(await ask()).toMatchObject({ status: 201, text: '{"run":1}', reused: true });
    expect(runs()).toBe(1);
    agent.destroy();
    const open = () => new Promise(resolve => server.getConnections((_error, count) => resolve(count)));
    while ((await open()) !== 0) await pause(1);
  });

  it('at acquire, and so configured: it runs, within the bound', async () => {
    const { fault, ask, runs } = await service({ whenStoreFails: 'run' });
    fault.at = 'acquire';
    expect(await ask()).toMatchObject({ status: 201, headers: { 'idempotency-key': 'k' } });
    expect(runs()).toBe(1);
  });

  it.each(['reject', 'run'] as const)(
    'at acquire, while a duplicate waits: it gets 503 in time, and the original its answer (whenStoreFails: %s)',
    async whenStoreFails => {
      const [begun, mayEnd] = [signal(), signal()];
      const { fault, ask, post, runs } = await service({ whenStoreFails }, async (_req, res) => {
        begun.happens();
        await mayEnd.happened;
        res.status(201).end();
      });
      const first = post();
      await begun.happened;
      const waiting = ask();
      while (fault.asked < 2) await pause(1);
      fault.at = 'acquire';
      // One that comes now does not run beside it either.
      expect([(await waiting).status, (await ask()).status]).toEqual([503, 503]);
      mayEnd.happens();
      expect([(await first).status, runs()]).toEqual([201, 1]);
    },
  );

  it('at acquire, while a duplicate waits for another process: it gets 503, also where others run', async () => {
    const { fault, ask, runs, options } = await service({ whenStoreFails: 'run', ignoreHost: true });
    const [begun, mayEnd] = [signal(), signal()];
    const leases = Object.create(options.leases) as LeaseStore;
    const elsewhere = await guarded({ ...options, leases, ignoreHost: true }, async (_req, res) => {
      begun.happens();
      await mayEnd.happened;
      res.end();
    });
    const first = elsewhere.post();
    await begun.happened;
    const waiting = ask();
    while (fault.asked < 2) await pause(1);
    fault.at = 'acquire';
    expect([(await waiting).status, runs()]).toEqual([503, 0]);
    mayEnd.happens();
    await first;
  });

  it('at renew: the handler learns that its lease is over, and answers all the same', async () => {
    const { fault, ask } = await service({}, async (req, res) => {
      await pause(500);
      res.status(201).json({ aborted: req.idempotency.signal.aborted });
    });
    fault.at = 'renew';
    // Nobody has taken the lease since, so what was to be renewed is completed.
    for (let turn = 0; turn < 2; turn++) expect(await ask()).toMatchObject({ status: 201, text: '{"aborted":true}' });
  });

  it.each(['write', 'complete'] as const)(
    'at %s: the answer goes out within the bound, and onEvent says that it is not stored',
    async at => {
      const { fault, ask, log } = await service({ leaseDuration: 60_000 });
      fault.at = at;
      expect(await ask()).toMatchObject({ status: 201, text: '{"run":1}' });
      expect(log.kinds).toEqual(['not-stored']);
      fault.at = undefined;
      expect((await ask()).status).toBe(201);
      expect(log.kinds.at(-1)).toMatch(/^(executed|waited|replayed)$/);
    },
  );

  it('at release: the answer is sent within the bound, and the key is free when the lease is over', async () => {
    const { fault, ask, runs } = await service({}, (req, res) => {
      req.idempotency.forget();
      res.status(201).end();
    });
    fault.at = 'release';
    expect((await ask()).status).toBe(201);
    fault.at = undefined;
    expect([(await ask()).status, runs()]).toEqual([201, 2]);
  });
});
