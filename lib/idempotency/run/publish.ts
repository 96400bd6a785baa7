import { setTimeout as pause } from 'node:timers/promises';
import { after, recovering, type Awaitable } from '../../basics/awaitable';
import { noteStoring } from '../leases/local-runs';
import type { RunId } from '../leases/token';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import type { TimedStores } from '../store-calls/timed-stores';
import { RENEWALS_PER_LEASE } from './renewal';

/** The result of storing a response. */
export type Publication =
  | { readonly kind: 'published' }
  /** The store did not do it in time; storing goes on in the background. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Another request has taken the lease. */
  | { readonly kind: 'lost' };

/** The result of one attempt: it is stored, another request has the lease, or another's response is published. */
type Attempted = 'published' | 'taken' | 'overtaken';

/** Milliseconds between two attempts in the background, at most. */
const LONGEST_PAUSE = 1_000;

/**
 * Stores a response. If that fails, or takes longer than `storeTimeout`, the answer is `failed`, and it is tried in the
 * background until it succeeds, another run's response is published, or `cacheDuration` is over: the handler has run,
 * and must not run again because of the store.
 * @param response undefined if there is none to keep.
 * @param leaseUntil when the lease expires by our own clock, in milliseconds of the monotonic clock.
 */
export function publish(
  run: RunId,
  response: RecordedResponse | undefined,
  options: ResolvedOptions,
  stores: TimedStores,
  leaseUntil: number,
): Awaitable<Publication> {
  const until = performance.now() + options.cacheDuration;
  const attempt = (heldUntil: number): Awaitable<Attempted> => {
    const deadline = performance.now() + options.storeTimeout;
    const store = (): Awaitable<Attempted> => {
      const now = performance.now();
      const stored = stores.store(run, response, Math.max(1, Math.ceil(until - now)), deadline - now);
      return after(stored, isOurs => (isOurs ? 'published' : 'taken'));
    };
    return deadline < heldUntil ? store() : whileHeld(run, options, stores, store);
  };
  return recovering<Publication>(
    () => after(attempt(leaseUntil), result => ({ kind: result === 'published' ? 'published' : 'lost' })),
    error => {
      const hasStored = noteStoring(run, response?.body.length ?? 0, options.leases);
      const interval = Math.min(LONGEST_PAUSE, options.leaseDuration / RENEWALS_PER_LEASE);
      void keepPublishing(() => attempt(-Infinity), interval, until).then(hasStored);
      return { kind: 'failed', error };
    },
  );
}

/**
 * Stores while the run holds its lease: extends it first, or acquires it anew if it has expired, by the same token. One
 * that another token has ends the attempt.
 */
function whileHeld(
  run: RunId,
  { storeTimeout }: ResolvedOptions,
  stores: TimedStores,
  store: () => Awaitable<Attempted>,
): Awaitable<Attempted> {
  return after(stores.acquireAgain(run, storeTimeout), acquisition => {
    if (acquisition.kind === 'acquired') return store();
    if (acquisition.kind === 'running') return 'taken';
    // An earlier attempt has completed the lease, and its answer was late or lost.
    return acquisition.token === run.token ? 'published' : 'overtaken';
  });
}

/**
 * Goes on while another request has the lease, too: it may hold it without running, because its `acquire` was carried
 * out late, and then releases it.
 * @param interval milliseconds before each attempt.
 * @param until when the response is no longer of use, in milliseconds of the monotonic clock.
 */
async function keepPublishing(attempt: () => Awaitable<Attempted>, interval: number, until: number): Promise<void> {
  let result: Attempted = 'taken';
  while (result === 'taken') {
    await pause(interval, undefined, { ref: false });
    if (performance.now() >= until) return;
    try {
      result = await attempt();
    } catch {
      // The store is still not available: the next attempt follows.
    }
  }
}
