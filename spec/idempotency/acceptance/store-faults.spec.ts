import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Keyv } from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { send } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases, type Hooks } from '../../support/hooked-leases';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

/** What has broken in other libraries, and must hold while the store is down or hangs, at each of the calls that it is asked. */

const TIMEOUT = 120;
/** A request calls the store at most twice at its end: to write the response and to complete the lease. */
const BOUND = 2 * TIMEOUT + 10_000;

/** A store that can fail from now on, and come back. */
class Fault {
  at: 'acquire' | 'renew' | 'complete' | 'release' | 'read' | 'write' | undefined;
  /** How often the lease was asked for. */
  asked = 0;
  readonly log = new EventLog();
  readonly options: IdempotencyOptions;

  constructor(private readonly how: 'down' | 'hanging') {
    const fails = (step: NonNullable<Fault['at']>): Promise<void> | undefined =>
      this.at === step ? this.fail() : undefined;
    class FailingMap extends Map<string, unknown> {
      override get(key: string): unknown {
        return fails('read')?.then(() => super.get(key)) ?? super.get(key);
      }
      override set(key: string, value: unknown): this {
        return (fails('write')?.then(() => super.set(key, value)) ?? super.set(key, value)) as this;
      }
    }
    const hooks: Hooks = {
      acquire: () => {
        this.asked++;
        return fails('acquire');
      },
      renew: () => fails('renew'),
      complete: () => fails('complete'),
      release: () => fails('release'),
    };
    this.options = {
      store: new Keyv(new FailingMap()),
      leases: new HookedLeases(hooks),
      storeTimeout: TIMEOUT,
      leaseDuration: 200,
      onEvent: this.log.onEvent,
    };
  }

  private fail(): Promise<void> {
    return this.how === 'down' ? Promise.reject(new Error('ECONNREFUSED')) : new Promise<void>(() => undefined);
  }
}

const rows = expressVersions.flatMap(([version, express]) =>
  (['down', 'hanging'] as const).map(how => ({ version, express, how })),
);

describe.each(rows)('the store is $how ($version)', ({ express, how }) => {
  /** Asks, over one connection that stays open, and says how long it took. */
  async function timed(
    url: string,
    agent: Agent,
    headers = keyed('k'),
  ): Promise<{ status: number; text: string; headers: IncomingMessage['headers']; ms: number; reused: boolean }> {
    const started = performance.now();
    const sent = request(url, { method: 'POST', headers, agent }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return {
      status: response.statusCode ?? 0,
      text,
      headers: response.headers,
      ms: performance.now() - started,
      reused: sent.reusedSocket,
    };
  }

  async function service(work: number | Promise<void> = 0, more: IdempotencyOptions = {}, forget = false) {
    const fault = new Fault(how);
    let runs = 0;
    const aborted: boolean[] = [];
    const { url, server } = await serve(
      express().post('/', idempotency({ ...fault.options, ...more }), async (req, res) => {
        runs++;
        if (forget) req.idempotency.forget();
        await (typeof work === 'number' ? pause(work) : work);
        aborted.push(req.idempotency.signal.aborted);
        res.status(201).json({ runs });
      }),
    );
    // A process that stands still for the five seconds of the default would find its connection closed.
    server.keepAliveTimeout = 60_000;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    return { fault, url, server, agent, aborted, runs: () => runs };
  }

  it.each(['acquire', 'read'] as const)(
    'at %s: a bounded 503, on a connection that goes on; nothing runs twice',
    async at => {
      const { fault, url, server, agent, runs } = await service();
      if (at === 'read') await timed(url, agent);
      fault.at = at;
      const refused = await timed(url, agent);
      expect(JSON.parse(refused.text)).toMatchObject({
        status: 503,
        type: 'urn:bindonce:store-unavailable',
        detail: expect.stringContaining(
          at === 'read'
            ? 'The request was executed before and is not executed again, but its response cannot be read now'
            : 'Nothing was executed for this attempt',
        ) as string,
      });
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
      expect(refused.ms).toBeLessThan(BOUND);
      expect(fault.log.kinds).toContain('store-failed');
      fault.at = undefined;
      const retry = await timed(url, agent);
      expect([retry.status, retry.text, retry.reused]).toEqual([201, '{"runs":1}', true]);
      expect(runs()).toBe(1);
      agent.destroy();
      while (
        (await new Promise(resolve => {
          server.getConnections((_error, count) => resolve(count));
        })) !== 0
      )
        await pause(1);
    },
  );

  it('at acquire, and so configured: it runs, within the bound', async () => {
    const { fault, url, agent, runs } = await service(0, { whenStoreFails: 'run' });
    fault.at = 'acquire';
    const answer = await timed(url, agent);
    expect([answer.status, answer.ms < BOUND, runs()]).toEqual([201, true, 1]);
    expect(answer.headers['idempotency-key']).toBe('k');
    agent.destroy();
  });

  it.each(['reject', 'run'] as const)(
    'at acquire, while a duplicate waits: it gets 503 in time, and the original its answer (whenStoreFails: %s)',
    async whenStoreFails => {
      const mayEnd = signal();
      const { fault, url, runs } = await service(mayEnd.happened, { whenStoreFails });
      const first = send(url, { headers: keyed('k') });
      while (runs() === 0) await pause(1);
      const waiting = send(url, { headers: keyed('k') });
      while (fault.asked < 2) await pause(1);
      fault.at = 'acquire';
      const started = performance.now();
      expect((await waiting).status).toBe(503);
      expect(performance.now() - started).toBeLessThan(BOUND);
      mayEnd.happens();
      expect([(await first).status, runs()]).toEqual([201, 1]);
    },
  );

  it('at renew: the handler learns that its lease is over, and answers all the same', async () => {
    const { fault, url, agent, aborted } = await service(500);
    fault.at = 'renew';
    const answer = await timed(url, agent);
    expect([answer.status, answer.ms < 500 + BOUND, aborted]).toEqual([201, true, [true]]);
    // Nobody has taken the lease since, so what was to be renewed is completed.
    expect((await timed(url, agent)).text).toBe('{"runs":1}');
    agent.destroy();
  });

  it.each(['write', 'complete'] as const)(
    'at %s: the answer goes out within the bound, and onEvent says that it is not stored',
    async at => {
      const { fault, url, agent } = await service(0, { leaseDuration: 60_000 });
      fault.at = at;
      const answer = await timed(url, agent);
      expect([answer.status, answer.text, answer.ms < BOUND]).toEqual([201, '{"runs":1}', true]);
      expect(fault.log.kinds).toEqual(['not-stored']);
      fault.at = undefined;
      expect([(await timed(url, agent)).status, fault.log.kinds.at(-1)]).toEqual([
        201,
        expect.stringMatching(/^(executed|waited|replayed)$/),
      ]);
      agent.destroy();
    },
  );

  it('at release: the answer is sent within the bound, and the key is free when the lease is over', async () => {
    const { fault, url, agent, runs } = await service(0, {}, true);
    fault.at = 'release';
    const answer = await timed(url, agent);
    expect([answer.status, answer.ms < BOUND]).toEqual([201, true]);
    fault.at = undefined;
    const retry = await timed(url, agent);
    expect([retry.status, retry.ms < 200 + BOUND, runs()]).toEqual([201, true, 2]);
    agent.destroy();
  });
});
