import { setTimeout as pause } from 'node:timers/promises';
import type { Awaitable } from '../../basics/awaitable';
import { holdLease } from './hold-lease';
import type { RunId } from '../leases/token';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { PendingResponse } from '../store-calls/pending-response';
import type { TimedStores } from '../store-calls/timed-stores';
import { countUnstored } from '../store-calls/unstored';

/** The result of storing a response. */
export type Publication =
  | { readonly kind: 'published' }
  /** The store did not do it in time; storing goes on in the background. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Another request has taken the lease. */
  | { readonly kind: 'lost' };

/** Milliseconds between two tries in the background: the first pause, and the longest. */
const PAUSES = { first: 25, longest: 1_000 };

/**
 * Stores a response. If that takes longer than `storeTimeout`, the answer is `failed`, and in the background the lease
 * is renewed and storing is tried until it succeeds, another run's response is stored, or `cacheDuration` is over.
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
  const pending = new PendingResponse(run, response, options);
  const until = performance.now() + options.cacheDuration;
  const stored = pending.store(options.cacheDuration);
  if (typeof stored === 'boolean') return { kind: stored ? 'published' : 'lost' };
  return whenStored(stored, pending, until, holdLease(run, options, stores, leaseUntil));
}

/** @param stopHolding ends the holding of the lease. */
async function whenStored(
  stored: Promise<boolean>,
  pending: PendingResponse,
  until: number,
  stopHolding: () => void,
): Promise<Publication> {
  try {
    const isOurs = await stored;
    stopHolding();
    return { kind: isOurs ? 'published' : 'lost' };
  } catch (error) {
    const stopCounting = countUnstored(pending.bodyBytes);
    void keepPublishing(pending, until).then(() => {
      stopHolding();
      stopCounting();
    });
    return { kind: 'failed', error };
  }
}

/** @param until when the response is no longer of use, in milliseconds of the monotonic clock. */
async function keepPublishing(pending: PendingResponse, until: number): Promise<void> {
  let isSettled = false;
  for (let ms = PAUSES.first; !isSettled; ms = Math.min(2 * ms, PAUSES.longest)) {
    await pause(ms, undefined, { ref: false });
    const msLeft = Math.ceil(until - performance.now());
    if (msLeft <= 0) return;
    isSettled = await pending.storeOrSee(msLeft).catch(() => false);
  }
}
