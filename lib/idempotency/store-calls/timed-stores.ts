import { after, recovering, type Awaitable } from '../../basics/awaitable';
import { validAcquisition, validCompletion, type Acquisition, type KnownAcquisition } from '../leases/lease-store';
import { localRun, tooManyWaiting } from '../leases/local-runs';
import type { RunId } from '../leases/token';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { callStore, StoreUnavailable } from './store-call';

/** Milliseconds after which a duplicate asks again whether this process has stored the response. */
const STORING_PAUSE = 100;

/** The stores of one middleware. Each step ends within `storeTimeout`, with an answer or with StoreUnavailable. */
export class TimedStores {
  constructor(private readonly options: ResolvedOptions) {}

  /**
   * Asks for the lease. While this process stores the response of a run, that one has it: when the store comes back, a
   * new request must not be faster than the storing. What a lost or late call acquires is released again.
   */
  acquire(run: RunId, ms: number): Awaitable<KnownAcquisition> {
    const earlier = localRun(run.cacheKey, this.options.leases);
    if (earlier?.phase === 'storing') return { kind: 'running', token: earlier.token, msLeft: STORING_PAUSE };
    const waiting = tooManyWaiting();
    if (waiting > 0)
      throw new StoreUnavailable(`New requests are refused, because ${waiting} responses wait to be stored`);
    const releaseAgain = (): void => {
      void this.releaseQuietly(run);
    };
    return recovering(
      () => this.acquireFor(run, ms, this.options.storeTimeout, releaseAgain),
      error => {
        releaseAgain();
        throw this.withReason(error);
      },
    );
  }

  /**
   * Acquires the lease for a run that has, or had, it already.
   * @param within milliseconds until the answer.
   */
  acquireAgain(run: RunId, within: number): Awaitable<KnownAcquisition> {
    return this.acquireFor(run, this.options.leaseDuration, within);
  }

  /** Extends the lease by `leaseDuration`. @returns whether the run still holds it. */
  renew({ cacheKey, token }: RunId): Awaitable<boolean> {
    const { leases, leaseDuration, storeTimeout } = this.options;
    const renew = (): Awaitable<boolean> => leases.renew(cacheKey, token, leaseDuration);
    // An answer is worth nothing after the lease.
    return callStore('renew() of the lease store', renew, Math.min(leaseDuration, storeTimeout));
  }

  /**
   * Writes the response, under the run's own token, and then completes the lease, which publishes it.
   * @param response undefined if there is none to keep: the record that the handler has run is kept all the same.
   * @param ms milliseconds that the response is kept.
   * @param within milliseconds until the answer, in all.
   * @returns false when another request has taken the lease.
   */
  store(run: RunId, response: RecordedResponse | undefined, ms: number, within: number): Awaitable<boolean> {
    const { leases, responses, storeTimeout } = this.options;
    const { cacheKey, token } = run;
    // A response must not expire before the record that points to it: one storeTimeout from writing it to completing
    // the lease, one from reading the record to reading it, and 10 s for the clocks of two machines (Keyv compares wall
    // clocks).
    const lifetime = ms + 2 * storeTimeout + 10_000;
    const complete = (): Awaitable<boolean> => {
      const completed = leases.complete(cacheKey, token, ms);
      return typeof completed === 'boolean' ? completed : Promise.resolve(completed).then(validCompletion);
    };
    const store = (): Awaitable<boolean> =>
      response ? after(responses.set(cacheKey, token, response, lifetime), complete) : complete();
    return callStore('set() of the response store, or complete() of the lease store,', store, within);
  }

  /** Gives up the lease, or the record, of the run. @returns whether there was one. */
  async release({ cacheKey, token }: RunId): Promise<boolean> {
    const { leases, storeTimeout } = this.options;
    return callStore('release() of the lease store', () => leases.release(cacheKey, token), storeTimeout);
  }

  /** Releases a lease under which nothing runs, so that a retry may. Never rejects: without an answer, it expires. */
  async releaseQuietly(run: RunId): Promise<void> {
    await this.release(run).catch(() => undefined);
  }

  /** Reads the response of a run. */
  read({ cacheKey, token }: RunId): Awaitable<RecordedResponse | undefined> {
    const { responses, storeTimeout } = this.options;
    const read = (): Awaitable<RecordedResponse | undefined> => responses.get(cacheKey, token, storeTimeout);
    return callStore('get() of the response store', read, storeTimeout);
  }

  /** Removes the response of a run. */
  async remove({ cacheKey, token }: RunId): Promise<void> {
    const { responses, storeTimeout } = this.options;
    return callStore('delete() of the response store', () => responses.delete(cacheKey, token), storeTimeout);
  }

  private acquireFor(
    { cacheKey, token }: RunId,
    ms: number,
    within: number,
    onLate?: () => void,
  ): Awaitable<KnownAcquisition> {
    const acquire = (): Awaitable<Acquisition> => this.options.leases.acquire(cacheKey, token, ms);
    return after(callStore('acquire() of the lease store', acquire, within, onLate), validAcquisition);
  }

  /** Adds the reason: a client that is not connected does not say why it is silent, but Keyv has reported it. */
  private withReason(error: unknown): unknown {
    return error instanceof StoreUnavailable && error.cause === undefined
      ? new StoreUnavailable(error.what, error.remedy, this.options.responses.recentError?.())
      : error;
  }
}
