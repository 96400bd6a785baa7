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
  { storeTimeout, cacheDuration, leaseDuration, leases }: ResolvedOptions,
  stores: TimedStores,
  leaseUntil: number,
): Awaitable<Publication> {
  const until = performance.now() + cacheDuration;
  const write = (deadline: number): Awaitable<Attempted> => {
    const now = performance.now();
    const stored = stores.store(run, response, Math.max(1, Math.ceil(until - now)), deadline - now);
    return after(stored, isOurs => (isOurs ? 'published' : 'taken'));
  };
  const attempt = (heldUntil: number): Awaitable<Attempted> => {
    const deadline = performance.now() + storeTimeout;
    if (deadline < heldUntil) return write(deadline);
    // Extends the lease, or acquires it anew if it has expired: only who has it stores.
    return after(stores.acquireAgain(run, storeTimeout), held => {
      if (held.kind === 'running') return 'taken';
      // With our token: an earlier attempt has completed the lease, and its answer was late or lost.
      if (held.kind === 'done') return held.token === run.token ? 'published' : 'overtaken';
      return write(deadline);
    });
  };
  const publication = (result: Attempted): Publication => ({ kind: result === 'published' ? 'published' : 'lost' });
  const storeLater = (error: unknown): Publication => {
    const hasStored = noteStoring(run, response?.body.length ?? 0, leases);
    const interval = Math.min(LONGEST_PAUSE, leaseDuration / RENEWALS_PER_LEASE);
    void keepPublishing(() => attempt(-Infinity), interval, until).then(hasStored);
    return { kind: 'failed', error };
  };
  return recovering(() => after(attempt(leaseUntil), publication), storeLater);
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
