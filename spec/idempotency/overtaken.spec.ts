import type { Response } from 'express';
import type { IdempotencyOptions } from '../../lib';
import { guarded, seen, type Run } from '../support/guarded';
import { HookedLeases, type Hooks } from '../support/hooked-leases';
import type { WireResponse } from '../support/listen';
import { signal } from '../support/signal';

const LEASE = 150;

type Served = Awaited<ReturnType<typeof guarded>>;
type Overtaken = Served & { first: Promise<WireResponse>; second: string; end(): void; aborted: number[] };

/** A request whose renewals are lost, so that a second one runs while the first still does; the first ends when it is told to. */
async function overtaken(
  end: Run = (_req, res) => res.json({ run: 1 }),
  options: IdempotencyOptions = {},
  hooks: Hooks = {},
): Promise<Overtaken> {
  const [begun, mayEnd] = [signal(), signal()];
  const aborted: number[] = [];
  const leases = new HookedLeases({ renew: () => new Promise(() => undefined), ...hooks });
  const served = await guarded(
    { leases, leaseDuration: LEASE, storeTimeout: 100, ...options },
    async (req, res, next, run) => {
      const { signal: own } = req.idempotency;
      // A process that stood still may have missed the event.
      if (own.aborted) aborted.push(run);
      else own.addEventListener('abort', () => aborted.push(run));
      if (run > 1) return res.status(201).json({ run });
      begun.happens();
      await mayEnd.happened;
      return end(req, res, next, run);
    },
  );
  const asked = performance.now();
  const first = served.post();
  first.catch(() => undefined);
  await begun.happened;
  // On a machine that stands still for a lease before the handler begins, the second run is as early as its end.
  if (performance.now() - asked >= LEASE) return overtaken(end, options, hooks);
  return { ...served, first, second: seen(await served.post()), aborted, end: () => mayEnd.happens() };
}

describe('a run whose lease was lost to another', () => {
  const failing = (_req: unknown, res: Response): unknown => res.status(500).json({ run: 1 });
  it.each<[string, Run | undefined, IdempotencyOptions?]>([
    ['would be stored', undefined],
    ['has begun', (_req, res) => res.write('run 1') && res.end()],
    ['was to be forgotten', (req, res) => (req.idempotency.forget(), failing(req, res))],
    ['is not wanted by shouldCache', failing, { shouldCache: ({ status }) => status < 500 }],
  ])(
    'has its signal aborted, however long a renewal is on its way; it has its connection closed when its own response %s, and its retry gets the published one',
    async (_title, ...[act, options]) => {
      const { first, second, log, aborted, end, post } = await overtaken(act, options);
      expect([second, aborted]).toEqual(['{"run":2}', expect.arrayContaining([1])]);
      end();
      await expect(first).rejects.toThrow();
      expect(seen(await post())).toBe('{"run":2} again');
      // Which of the two processes is first to tell of the other's lease is not promised.
      expect([...log.kinds].sort()).toEqual(['executed', 'lease-lost', 'not-stored', 'replayed']);
    },
  );

  it('answers with its own response when the store cannot be asked: the work is done', async () => {
    const state = { isDown: false };
    const fail = (): void => {
      if (state.isDown) throw new Error('The store is down');
    };
    const { first, second, end } = await overtaken(undefined, {}, { acquire: fail, complete: fail });
    state.isDown = true;
    end();
    expect([second, seen(await first)]).toEqual(['{"run":2}', '{"run":1}']);
  });
});

it('a right to run that was longer on its way than its lease is none: 503, what to do, and a retry gets what was published meanwhile', async () => {
  const [asked, mayAnswer] = [signal(), signal()];
  let answers = 0;
  const acquire = async (): Promise<void> => {
    if (++answers > 1) return;
    asked.happens();
    await mayAnswer.happened;
  };
  const leases = new HookedLeases({}, { acquire });
  const { post, log, runs } = await guarded({ leases, leaseDuration: LEASE, storeTimeout: 20_000 });
  const first = post();
  await asked.happened;
  expect(seen(await post())).toBe('{"run":1}');
  mayAnswer.happens();
  expect([(await first).status, seen(await post()), runs()]).toEqual([503, '{"run":1} again', 1]);
  expect(String((await log.first('store-failed')).error)).toBe(
    'StoreUnavailable: acquire() of the lease store answered after the lease of 150 ms had expired. Use a longer leaseDuration.',
  );
});
