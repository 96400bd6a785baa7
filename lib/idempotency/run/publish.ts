import { setTimeout as pause } from 'node:timers/promises';
import type { Awaitable } from '../../basics/awaitable';
import { holdLease } from './hold-lease';
import { refuseIfClosed } from '../leases/closable-leases';
import { areJoint } from '../leases/joint-leases';
import type { RunId } from '../leases/token';
import { validCompletion } from '../leases/valid-answers';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { PatientCall } from '../store-calls/patient-call';
import { withinTime } from '../store-calls/running-time';
import { callStore } from '../store-calls/store-call';
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

/** A response on its way into the store. */
interface PendingResponse {
  readonly run: RunId;
  /** Undefined if there is none to keep: the record that the handler has run is written all the same. */
  readonly response: RecordedResponse | undefined;
  readonly options: ResolvedOptions;
  readonly storing: PatientCall<boolean>;
  isWritten: boolean;
}

/**
 * Stores a response. If that takes longer than `storeTimeout`, the answer is `failed`, and in the background the lease
 * is renewed and storing is tried until it succeeds, another run's response is stored, or `cacheDuration` is over.
 * @param leaseUntil when the lease expires by our own clock, in milliseconds of the monotonic clock.
 */
export function publish(
  run: RunId,
  response: RecordedResponse | undefined,
  options: ResolvedOptions,
  stores: TimedStores,
  leaseUntil: number,
): Awaitable<Publication> {
  const storing = new PatientCall<boolean>(2 * options.storeTimeout);
  const pending: PendingResponse = { run, response, options, storing, isWritten: false };
  const until = performance.now() + options.cacheDuration;
  const stored = callStore(() => store(pending, options.cacheDuration), options.storeTimeout);
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
    const stopCounting = countUnstored(pending.response?.body.length ?? 0);
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
    isSettled = await storeOrSee(pending, msLeft).catch(() => false);
  }
}

/**
 * Tries once. Another request may hold the lease without running, because its `acquire` was carried out late. It will
 * release the lease.
 * @returns whether a response is published, ours or another's.
 */
async function storeOrSee(pending: PendingResponse, ms: number): Promise<boolean> {
  const {
    run: { cacheKey, token },
    options: { leases, leaseDuration, storeTimeout },
  } = pending;
  if (await withinTime(() => store(pending, ms), storeTimeout)) return true;
  const seen = await withinTime(() => leases.acquire(cacheKey, token, leaseDuration), storeTimeout);
  return seen.kind === 'done';
}

/**
 * Writes the response, under the run's own token, and then completes the lease, which publishes it. Both together have
 * one `storeTimeout`.
 * @param ms milliseconds that the response is kept.
 * @returns false when another request has taken the lease.
 * @throws Error if the application has closed the store: Keyv would open it again, and the process would never end.
 */
function store(pending: PendingResponse, ms: number): boolean | Promise<boolean> {
  refuseIfClosed(pending.options.leases);
  return pending.storing.make(() => {
    const written = write(pending, ms);
    if (written) return completeAfter(written, pending, ms);
    pending.isWritten = true;
    return complete(pending, ms);
  });
}

async function completeAfter(written: Promise<void>, pending: PendingResponse, ms: number): Promise<boolean> {
  const isOurs = await completeWith(written, pending, ms);
  if (isOurs !== undefined) return isOurs;
  await written;
  pending.isWritten = true;
  return complete(pending, ms);
}

/**
 * Completes the lease without waiting until the response is written, if the store itself can make sure that it is.
 * @returns undefined if it cannot, or has found no response.
 */
async function completeWith(
  written: Promise<void>,
  pending: PendingResponse,
  ms: number,
): Promise<boolean | undefined> {
  const {
    run: { cacheKey, token },
    options: { leases, responses },
  } = pending;
  const responseKey = responses.keyOnServer?.(cacheKey, token);
  if (!areJoint(leases) || responseKey === undefined) return undefined;
  // If the lease is completed, the response is there, whatever becomes of the answer to the write.
  written.catch(() => undefined);
  // Keyv takes several microtasks to pass the response to its client.
  await new Promise(resolve => {
    process.nextTick(resolve);
  });
  return leases.completeIfStored(cacheKey, token, ms, responseKey);
}

function write(
  { isWritten, run: { cacheKey, token }, response, options }: PendingResponse,
  ms: number,
): void | Promise<void> {
  if (response && !isWritten) return options.responses.write(cacheKey, token, response, ms + extraLifetime(options));
}

function complete(pending: PendingResponse, ms: number): boolean | Promise<boolean> {
  const { cacheKey, token } = pending.run;
  // A store that fails in between may have lost what it reported as written.
  const failed = (error: unknown): never => {
    pending.isWritten = false;
    throw error;
  };
  try {
    const completed = pending.options.leases.complete(cacheKey, token, ms);
    return typeof completed === 'boolean' ? completed : Promise.resolve(completed).then(validCompletion, failed);
  } catch (error) {
    return failed(error);
  }
}

/**
 * Extra lifetime of a stored response, so that it never expires before the lease record that points to it: one
 * storeTimeout between writing it and completing the lease, one between reading the record and reading it, and 10 s for
 * the difference between the clocks of two machines (Keyv compares wall clocks).
 */
const extraLifetime = ({ storeTimeout }: ResolvedOptions): number => 2 * storeTimeout + 10_000;
