import { setImmediate as turn } from 'node:timers/promises';
import Keyv from 'keyv';
import type { IdempotencyOptions } from '../../../lib';
import { guarded } from '../../support/guarded';
import { HookedLeases } from '../../support/hooked-leases';
import { signal } from '../../support/signal';

/** Takes responses only once the spec says so. */
class SilentMap extends Map<string, unknown> {
  readonly speaks = signal();
  sets = 0;

  override set(key: string, value: unknown): this {
    this.sets++;
    return this.speaks.happened.then(() => super.set(key, value)) as unknown as this;
  }
}

/** A shop whose store of responses is silent. */
async function shop(options: IdempotencyOptions = {}, bytes = 10) {
  const map = new SilentMap();
  const body = Buffer.alloc(bytes, '.');
  const { post, log, runs } = await guarded(
    {
      ...{ store: new Keyv({ store: map }), leases: new HookedLeases() },
      ...{ storeTimeout: 20, leaseDuration: 30_000, waitTimeout: 20 },
      ...options,
    },
    (_req, res) => res.send(body),
  );
  const statusOf = async (key: string): Promise<number> => (await post({ key })).status;
  /** Lets the store take what waits, and sends until this is so. */
  const speak = async (key: string): Promise<void> => {
    map.speaks.happens();
    while ((await statusOf(key)) !== 200);
  };
  return { map, log, runs, statusOf, speak };
}

describe('a response that is stored in the background', () => {
  it('is offered to a silent store once a second at most', async () => {
    const { map, statusOf, runs, speak } = await shop();
    const begun = performance.now();
    expect(await statusOf('k')).toBe(200);
    while (map.sets < 3) await turn();
    expect(performance.now() - begun).toBeGreaterThan(1_990);
    await speak('k');
    expect(runs()).toBe(1);
  });

  it('is given up when cacheDuration is over: the next request runs', async () => {
    const { statusOf, runs } = await shop({ cacheDuration: 300, leaseDuration: 300 });
    expect([await statusOf('k'), await statusOf('k')]).toEqual([200, 409]);
    while (runs() === 1) await statusOf('k');
    expect(runs()).toBe(2);
  });
});

describe('while too many responses wait to be stored, no handler runs; then all is as before:', () => {
  it.each([
    ['a thousand of them', 1_000, 10],
    ['64 MiB', 14, 5_000_000],
  ])('%s', async (_title, count, bytes) => {
    const { statusOf, runs, log, speak } = await shop({}, bytes);
    const keys = Array.from({ length: count }, (_, index) => `k${index}`);
    const inFifties = async (work: (key: string) => Promise<unknown>): Promise<void> => {
      for (let from = 0; from < count; from += 50) await Promise.all(keys.slice(from, from + 50).map(work));
    };
    await inFifties(statusOf);
    expect([await statusOf('next'), runs()]).toEqual([503, count]);
    expect(String((await log.first('store-failed')).error)).toBe(
      `StoreUnavailable: New requests are refused, because ${count} responses wait to be stored. Check the store and its connection.`,
    );
    await speak('next');
    await inFifties(speak);
    expect(runs()).toBe(count + 1);
  });
});
