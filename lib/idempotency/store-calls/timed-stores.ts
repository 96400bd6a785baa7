import { after, recovering, type Awaitable } from '../../basics/awaitable';
import { refuseIfClosed } from '../leases/closable-leases';
import { localRun } from './local-runs';
import type { Acquisition } from '../leases/lease-store';
import type { RunId } from '../leases/token';
import { validAcquisition } from '../leases/valid-answers';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { callStore, StoreUnavailable } from './store-call';
import { Unanswered } from './unanswered';
import { refuseIfTooManyUnstored } from './unstored';

/** The stores of one middleware. Every call ends within `storeTimeout`, with an answer or with StoreUnavailable. */
export interface TimedStores {
  /**
   * Asks for the lease. What a lost or late call acquires is released again.
   *
   * While this process is storing the response of an earlier run, that run's lease is acquired anew: when the store
   * comes back after the lease has expired, a new request must not be faster than the storing.
   */
  acquire(run: RunId, ms: number): Awaitable<Acquisition>;
  /** Extends the lease by `leaseDuration`. @returns whether the run still holds it. */
  renew(run: RunId): Promise<boolean>;
  /** Acquires an expired lease again for the run that had it. @returns false when another run has it. */
  reacquire(run: RunId): Promise<boolean>;
  /** Gives up the lease, or the record, of the run. @returns whether there was one. */
  release(run: RunId): Promise<boolean>;
  /** @param method of the request. */
  read(run: RunId, method: string | undefined): Awaitable<RecordedResponse | undefined>;
  remove(run: RunId): Promise<void>;
}

/**
 * Puts time limits around the calls to the two stores. (Storing a response has one limit for its two steps:
 * publish.ts.)
 */
export function withTimeouts(options: ResolvedOptions): TimedStores {
  const { leases, responses, storeTimeout, leaseDuration, maxResponseBytes } = options;
  // The answer to a renewal is worth nothing after the lease.
  const renewalTimeout = Math.min(storeTimeout, leaseDuration);

  const ofLeases = { unanswered: new Unanswered() };
  const ofResponses = { unanswered: new Unanswered() };

  const renew = async ({ cacheKey, token }: RunId): Promise<boolean> =>
    callStore(() => leases.renew(cacheKey, token, leaseDuration), renewalTimeout, ofLeases);

  const release = async ({ cacheKey, token }: RunId): Promise<boolean> =>
    callStore(() => leases.release(cacheKey, token), storeTimeout, ofLeases);

  /** Returns the token of the run whose response this process is storing under a key. */
  const tokenStoredHere = (cacheKey: string): string | undefined => {
    const run = localRun(cacheKey, leases);
    return run?.phase === 'storing' ? run.token : undefined;
  };

  const acquireOrHold = (run: RunId, ms: number): Awaitable<Acquisition> => {
    const earlier = tokenStoredHere(run.cacheKey);
    return earlier === undefined ? leases.acquire(run.cacheKey, run.token, ms) : acquireFor(earlier, run, ms);
  };

  /** The storing may have begun since the question, which a slow store has carried out after the lease had expired. */
  const unlessStoredHere = (acquisition: Acquisition, run: RunId, ms: number): Awaitable<Acquisition> => {
    const earlier = acquisition.kind === 'acquired' ? tokenStoredHere(run.cacheKey) : undefined;
    if (earlier === undefined) return acquisition;
    const handOver = async (): Promise<Acquisition> => {
      await leases.release(run.cacheKey, run.token);
      return acquireFor(earlier, run, ms);
    };
    return callStore(handOver, storeTimeout, ofLeases);
  };

  const acquireFor = async (earlier: string, { cacheKey, token }: RunId, ms: number): Promise<Acquisition> => {
    // For a whole lease, whatever the caller asked for: `purge()` asks for a short one.
    const forEarlier = await leases.acquire(cacheKey, earlier, leaseDuration);
    if (forEarlier.kind !== 'acquired') return forEarlier;
    if (tokenStoredHere(cacheKey) === earlier) return { kind: 'running', token: earlier, msLeft: leaseDuration };
    // The earlier run has ended meanwhile. If its record has expired, too, the lease was acquired under the token of a
    // run that is over, so it is released here.
    const forOwn = await leases.acquire(cacheKey, token, ms);
    if (forOwn.kind !== 'running' || forOwn.token !== earlier) return forOwn;
    await leases.release(cacheKey, earlier);
    return leases.acquire(cacheKey, token, ms);
  };

  /** A client that is not connected does not say why it is silent, but Keyv has reported it. */
  const withReason = (error: unknown): unknown =>
    error instanceof StoreUnavailable && error.cause === undefined
      ? new StoreUnavailable(error.what, responses.recentError?.())
      : error;

  return {
    renew,
    release,
    acquire(run, ms) {
      refuseIfTooManyUnstored();
      const releaseAgain = (): void => {
        release(run).catch(() => undefined);
      };
      const givenUp = { unanswered: ofLeases.unanswered, onLate: releaseAgain };
      const acquired = recovering(
        () => callStore(() => acquireOrHold(run, ms), storeTimeout, givenUp),
        error => {
          releaseAgain();
          throw withReason(error);
        },
      );
      return after(acquired, answer => unlessStoredHere(validAcquisition(answer), run, ms));
    },
    async reacquire({ cacheKey, token }) {
      const acquired = callStore(() => leases.acquire(cacheKey, token, leaseDuration), renewalTimeout, ofLeases);
      const acquisition = await acquired;
      return acquisition.kind === 'acquired';
    },
    read({ cacheKey, token }, method) {
      const expected = { method, maxBytes: maxResponseBytes };
      const read = (): ReturnType<typeof responses.read> => {
        refuseIfClosed(leases);
        return responses.read(cacheKey, token, expected, storeTimeout);
      };
      return callStore(read, storeTimeout, ofResponses);
    },
    remove: async ({ cacheKey, token }) =>
      callStore(() => responses.remove(cacheKey, token), storeTimeout, ofResponses),
  };
}
