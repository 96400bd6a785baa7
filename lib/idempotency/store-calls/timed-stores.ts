import { after, recovering, type Awaitable } from '../../basics/awaitable';
import { AcquireOrHold } from './acquire-or-hold';
import { refuseIfClosed } from '../leases/closable-leases';
import type { Acquisition } from '../leases/lease-store';
import type { RunId } from '../leases/token';
import { validAcquisition, type KnownAcquisition } from '../leases/valid-answers';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { callStore, StoreUnavailable } from './store-call';
import { Unanswered } from './unanswered';
import { refuseIfTooManyUnstored } from './unstored';

const ACQUIRE = 'acquire() of the lease store';

/**
 * The stores of one middleware. Each step ends within `storeTimeout`, with an answer or with StoreUnavailable.
 * (`acquire()` may take a second step, to hand the lease over. Storing a response has one limit for its two steps:
 * pending-response.ts.)
 */
export class TimedStores {
  /** Milliseconds: the answer to a renewal is worth nothing after the lease. */
  private readonly renewalTimeout: number;
  private readonly acquireOrHold: AcquireOrHold;
  private readonly ofLeases = { unanswered: new Unanswered() };
  private readonly ofResponses = { unanswered: new Unanswered() };

  constructor(private readonly options: ResolvedOptions) {
    this.renewalTimeout = Math.min(options.storeTimeout, options.leaseDuration);
    this.acquireOrHold = new AcquireOrHold(options);
  }

  /**
   * Asks for the lease, or holds it for an earlier run whose response this process is storing. What a lost or late call
   * acquires is released again.
   */
  acquire(run: RunId, ms: number): Awaitable<KnownAcquisition> {
    refuseIfTooManyUnstored();
    const releaseAgain = (): void => {
      void this.releaseQuietly(run);
    };
    const givenUp = { unanswered: this.ofLeases.unanswered, onLate: releaseAgain };
    const acquired = recovering(
      () => callStore(ACQUIRE, () => this.acquireOrHold.acquire(run, ms), this.options.storeTimeout, givenUp),
      error => {
        releaseAgain();
        throw this.withReason(error);
      },
    );
    return after(acquired, answer => this.unlessStoredHere(validAcquisition(answer), run, ms));
  }

  /** Extends the lease by `leaseDuration`. @returns whether the run still holds it. */
  async renew({ cacheKey, token }: RunId): Promise<boolean> {
    const { leases, leaseDuration } = this.options;
    const renew = (): Awaitable<boolean> => leases.renew(cacheKey, token, leaseDuration);
    return callStore('renew() of the lease store', renew, this.renewalTimeout, this.ofLeases);
  }

  /** Acquires an expired lease again for the run that had it. @returns false when another run has it. */
  async reacquire({ cacheKey, token }: RunId): Promise<boolean> {
    const { leases, leaseDuration } = this.options;
    const acquire = (): Awaitable<Acquisition> => leases.acquire(cacheKey, token, leaseDuration);
    const acquisition = await callStore(ACQUIRE, acquire, this.renewalTimeout, this.ofLeases);
    return acquisition.kind === 'acquired';
  }

  /** Gives up the lease, or the record, of the run. @returns whether there was one. */
  async release({ cacheKey, token }: RunId): Promise<boolean> {
    const { leases, storeTimeout } = this.options;
    const release = (): Awaitable<boolean> => leases.release(cacheKey, token);
    return callStore('release() of the lease store', release, storeTimeout, this.ofLeases);
  }

  /** Releases a lease under which nothing runs, so that a retry may. Never rejects: without an answer, it expires. */
  async releaseQuietly(run: RunId): Promise<void> {
    await this.release(run).catch(() => undefined);
  }

  /** Reads the response of a run. */
  read({ cacheKey, token }: RunId): Awaitable<RecordedResponse | undefined> {
    const { leases, responses, storeTimeout } = this.options;
    const read = (): Awaitable<RecordedResponse | undefined> => {
      refuseIfClosed(leases);
      return responses.get(cacheKey, token, storeTimeout);
    };
    return callStore('get() of the response store', read, storeTimeout, this.ofResponses);
  }

  /** Removes the response of a run. */
  async remove({ cacheKey, token }: RunId): Promise<void> {
    const { responses, storeTimeout } = this.options;
    const remove = (): Awaitable<void> => responses.delete(cacheKey, token);
    return callStore('delete() of the response store', remove, storeTimeout, this.ofResponses);
  }

  /** Hands the lease over to an earlier run whose response this process is storing by now. */
  private unlessStoredHere(acquisition: KnownAcquisition, run: RunId, ms: number): Awaitable<KnownAcquisition> {
    const earlier = this.acquireOrHold.earlierThan(run, acquisition);
    if (earlier === undefined) return acquisition;
    const handOver = (): Promise<Acquisition> => this.acquireOrHold.handOver(earlier, run, ms);
    return after(callStore(ACQUIRE, handOver, this.options.storeTimeout, this.ofLeases), validAcquisition);
  }

  /** Adds the reason: a client that is not connected does not say why it is silent, but Keyv has reported it. */
  private withReason(error: unknown): unknown {
    return error instanceof StoreUnavailable && error.cause === undefined
      ? new StoreUnavailable(error.what, error.remedy, this.options.responses.recentError?.())
      : error;
  }
}
