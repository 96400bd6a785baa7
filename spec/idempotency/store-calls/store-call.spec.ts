import { stat } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import Keyv from 'keyv';
import type { IdempotencyOptions } from '../../../lib';
import { guarded, seen } from '../../support/guarded';
import { HookedLeases, type Hooks } from '../../support/hooked-leases';
import { signal } from '../../support/signal';
import { standStill } from '../../support/stand-still';

const down = (): never => {
  throw new Error('ECONNREFUSED');
};
const served = (options: IdempotencyOptions) => guarded({ store: new Keyv(), storeTimeout: 80, ...options });

describe.each<[string, () => Promise<void>]>([
  ['down', down],
  ['hanging', () => new Promise(() => undefined)],
])('a lease store that is %s', (_title, outage) => {
  it('while a response is being stored here does not run its duplicate, even if it is configured to run', async () => {
    const hooks: { -readonly [K in keyof Hooks]: Hooks[K] } = { complete: outage };
    const leases = new HookedLeases(hooks);
    const { runs, post } = await served({ leases, whenStoreFails: 'run', whenInFlight: 'reject' });
    expect(seen(await post())).toBe('{"run":1}');
    hooks.acquire = outage;
    const duplicate = await post();
    expect([duplicate.status, duplicate.headers['retry-after'], runs()]).toEqual([409, '1', 1]);
    delete hooks.complete;
  });
});

describe('an answer of the store that is lost', () => {
  it.each(['acquire', 'complete', 'release'] as const)(
    'to %s does no harm: the repeated call, which is not made at once, is recognised',
    async step => {
      const asked = new Map<string, number>();
      let wait = 0;
      const lose = (_key: string, token: string): void => {
        const first = asked.get(token);
        if (first !== undefined) return void (wait ||= performance.now() - first);
        asked.set(token, performance.now());
        down();
      };
      const leases = new HookedLeases({}, { [step]: lose });
      const options = { leases, storeTimeout: 20_000, shouldCache: () => step !== 'release' };
      const { log, runs, post } = await served(options);
      const again = step === 'release' ? '{"run":2}' : '{"run":1} again';
      expect([seen(await post()), seen(await post())]).toEqual(['{"run":1}', again]);
      expect([runs(), wait > 20, log.kinds.includes('store-failed')]).toEqual([
        step === 'release' ? 2 : 1,
        true,
        false,
      ]);
    },
  );

  it('to acquire, and that comes after the deadline, is released again', async () => {
    const [late, released] = [signal(), signal()];
    let first = true;
    const leases = new HookedLeases(
      { acquire: () => (first ? late.happened : undefined) },
      { release: () => released.happens() },
    );
    const { runs, post } = await served({ leases, waitTimeout: 1_000 });
    expect((await post()).status).toBe(503);
    await released.happened;
    first = false;
    late.happens();
    await turn();
    expect([seen(await post()), runs()]).toEqual(['{"run":1}', 1]);
  });
});

it('a process that stands still for longer than storeTimeout has the answer that has come meanwhile', async () => {
  const acquire = async (): Promise<void> => {
    process.nextTick(standStill, 200);
    await stat(__filename);
  };
  const { log, post } = await served({ leases: new HookedLeases({ acquire }) });
  expect(seen(await post())).toBe('{"run":1}');
  expect(log.kinds).not.toContain('store-failed');
});

it('a call that fails is made twice, and its error is told', async () => {
  let asked = 0;
  const acquire = (): never => {
    asked++;
    return down();
  };
  const { log, post } = await served({ leases: new HookedLeases({ acquire }), storeTimeout: 20_000 });
  expect([(await post()).status, asked]).toEqual([503, 2]);
  expect(String(log.events[0]?.error)).toBe(
    'StoreUnavailable: acquire() of the lease store failed: ECONNREFUSED. Check the store and its connection.',
  );
});
