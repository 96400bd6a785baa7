import { setTimeout as pause } from 'node:timers/promises';
import { onceWithinDeadline, withinDeadline, type Bounded } from './deadline';
import type { Claim } from './exchange';
import { holdLease } from './holding';
import type { Settings } from './options';
import type { RecordedResponse } from './responses/recorded-response';

/** What came of storing a response. */
export type Publication =
  | { readonly kind: 'published' }
  /** The store did not do it in time; it goes on being tried. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Another request has taken the lease. */
  | { readonly kind: 'lost' };

/** Milliseconds between two tries in the background: the first pause, and the longest. */
const PAUSES = { first: 25, longest: 1_000 };

/** A response on its way into the store. */
interface Result {
  readonly claim: Claim;
  /** Undefined where there is none to keep: that the handler has run is recorded all the same. */
  readonly response: RecordedResponse | undefined;
  readonly settings: Settings;
  isWritten: boolean;
}

/**
 * Stores a response. Where that takes longer than `storeTimeout`, `failed` is the answer, and the lease goes on being
 * renewed and the response being stored in the background, until it is, or another's is, or `cacheDuration` is over.
 * @param leaseUntil when the lease expires by our own clock, in milliseconds of the monotonic clock.
 */
export async function publish(
  claim: Claim,
  response: RecordedResponse | undefined,
  settings: Settings,
  leaseUntil: number,
): Promise<Publication> {
  const result: Result = { claim, response, settings, isWritten: false };
  const until = performance.now() + settings.cacheDuration;
  const letGo = holdLease(claim, settings, leaseUntil);
  try {
    const isOurs = await store(result, settings.cacheDuration, withinDeadline);
    letGo();
    return { kind: isOurs ? 'published' : 'lost' };
  } catch (error) {
    void keepPublishing(result, until).then(letGo);
    return { kind: 'failed', error };
  }
}

/** @param until when nobody asks for the response any more, in milliseconds of the monotonic clock. */
async function keepPublishing(result: Result, until: number): Promise<void> {
  let isSettled = false;
  for (let ms = PAUSES.first; !isSettled; ms = Math.min(2 * ms, PAUSES.longest)) {
    await pause(ms, undefined, { ref: false });
    const msLeft = Math.ceil(until - performance.now());
    if (msLeft <= 0) return;
    isSettled = await storeOrSee(result, msLeft).catch(() => false);
  }
}

/**
 * Another that has the lease may yet give it up: a duplicate whose `acquire` was carried out late has not run.
 * @returns whether a response is published, ours or another's.
 */
async function storeOrSee(result: Result, ms: number): Promise<boolean> {
  if (await store(result, ms, onceWithinDeadline)) return true;
  const {
    claim: { cacheKey, token },
    settings: { leases, leaseDuration, storeTimeout },
  } = result;
  const seen = await onceWithinDeadline(() => leases.acquire(cacheKey, token, leaseDuration), storeTimeout);
  return seen.kind === 'done';
}

/**
 * The response goes first, under the run's own token; completing the lease is what publishes it.
 * @param ms milliseconds that the response is kept.
 * @returns false when another has taken the lease.
 */
function store(result: Result, ms: number, bounded: Bounded): Promise<boolean> {
  const {
    claim: { cacheKey, token },
    response,
    settings,
  } = result;
  const { leases, responses, storeTimeout } = settings;
  const write = async (): Promise<boolean> => {
    if (response && !result.isWritten) {
      await responses.write(cacheKey, token, response, ms + outliving(settings));
    }
    result.isWritten = true;
    return leases.complete(cacheKey, token, ms);
  };
  // A store that fails in between may have lost what it said it had written.
  return bounded(
    () =>
      write().catch((error: unknown) => {
        result.isWritten = false;
        throw error;
      }),
    storeTimeout,
  );
}

/**
 * Extra lifetime of a stored response, so that it never expires before the lease record that points to it: one
 * storeTimeout between writing it and completing the lease, one between reading the record and reading it, and 10 s for
 * the difference between the clocks of two machines (Keyv compares wall clocks).
 */
const outliving = ({ storeTimeout }: Settings): number => 2 * storeTimeout + 10_000;
