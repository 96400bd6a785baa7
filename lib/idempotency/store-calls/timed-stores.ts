import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { validAcquisition, validCompletion, type Acquisition } from '../leases/lease-store';
import { localRun, tooManyWaiting } from '../leases/local-runs';
import { MemoryLeases } from '../leases/memory-leases';
import type { RunId } from '../leases/token';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { callStore, StoreUnavailable } from './store-call';

/** Milliseconds after which a duplicate asks again whether this process has stored the response. */
const STORING_PAUSE = 100;

/** The stores of one middleware. Each step ends within `storeTimeout`, with an answer or with StoreUnavailable. */
export class TimedStores {
  /** Of the lease store, when it has answered. */
  private salt: string | undefined;

  constructor(private readonly options: ResolvedOptions) {}

  /**
   * Asks for the lease. While this process stores the response of a run, that one has it: when the store comes back, a
   * new request must not be faster than the storing. What a lost or late call acquires is released again.
   */
  acquire(run: RunId, ms: number): Awaitable<Acquisition> {
    const { leases } = this.options;
    const earlier = localRun(run.cacheKey, leases);
    if (earlier?.phase === 'storing') return { kind: 'running', token: earlier.id.token, msLeft: STORING_PAUSE };
    const waiting = tooManyWaiting();
    if (waiting > 0)
      throw new StoreUnavailable(`New requests are refused, because ${waiting} responses wait to be stored`);
    return this.acquireAgain(run, ms, () => this.releaseQuietly(run));
  }

  /** Acquires the lease, also for a run that has, or had, it already. */
  acquireAgain(
    { cacheKey, token, facts }: RunId,
    ms = this.options.leaseDuration,
    undo?: () => unknown,
  ): Awaitable<Acquisition> {
    const { leases } = this.options;
    const acquire = (): Awaitable<Acquisition> =>
      after(facts && this.saltOfStore(), salt => {
        const about = facts?.salted(salt);
        // Another store may copy or write what it is told, so it gets plain data.
        return leases.acquire(cacheKey, token, ms, leases instanceof MemoryLeases ? about : about?.toJSON());
      });
    return after(this.call('acquire() of the lease store', acquire, undefined, undo), validAcquisition);
  }

  /** Returns the salt of the lease store, which is asked once; undefined if it has none. */
  saltOfStore(): Awaitable<string | undefined> {
    return this.salt ?? after(this.options.leases.salt?.(), salt => (this.salt = salt));
  }

  /** {@link callStore}, measured. */
  private call<T>(
    name: string,
    call: () => Awaitable<T>,
    ms = this.options.storeTimeout,
    undo?: () => unknown,
  ): Awaitable<T> {
    const { telemetry } = this.options;
    if (!telemetry) return callStore(name, call, ms, undo);
    const begun = performance.now();
    const answer = callStore(name, call, ms, undo);
    const end = (): void => telemetry.storeCalled(performance.now() - begun);
    // (Not later: what is in memory answers at once, and the handler runs then.)
    if (isPromise(answer)) answer.then(end, end);
    else end();
    return answer;
  }

  /** Extends the lease by `leaseDuration`. @returns whether the run still holds it. */
  renew({ cacheKey, token }: RunId): Awaitable<boolean> {
    const { leases, leaseDuration, storeTimeout } = this.options;
    const renew = (): Awaitable<boolean> => leases.renew(cacheKey, token, leaseDuration);
    // An answer is worth nothing after the lease.
    return this.call('renew() of the lease store', renew, Math.min(leaseDuration, storeTimeout));
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
    const complete = (): Awaitable<boolean> =>
      after(leases.complete(cacheKey, token, ms, response?.status), validCompletion);
    const store = (): Awaitable<boolean> =>
      response ? after(responses.set(cacheKey, token, response, lifetime), complete) : complete();
    return this.call('set() of the response store, or complete() of the lease store,', store, within);
  }

  /** Gives up the lease, or the record, of the run. @returns whether there was one. */
  release({ cacheKey, token }: RunId): Awaitable<boolean> {
    return this.call('release() of the lease store', () => this.options.leases.release(cacheKey, token));
  }

  /** Releases a lease under which nothing runs, so that a retry may. Never rejects. */
  async releaseQuietly(run: RunId): Promise<void> {
    try {
      await this.release(run);
    } catch {
      // It expires.
    }
  }

  /** Reads the response of a run. */
  read({ cacheKey, token }: RunId): Awaitable<RecordedResponse | undefined> {
    const { responses, storeTimeout } = this.options;
    return this.call('get() of the response store', () => responses.get(cacheKey, token, storeTimeout));
  }

  /** Removes a response. */
  remove({ cacheKey, token }: RunId): Awaitable<void> {
    return this.call('delete() of the response store', () => this.options.responses.delete(cacheKey, token));
  }

  /** Settles a run whose outcome is unknown. @returns whether there was one. */
  settle({ cacheKey, token }: RunId, outcome: 'ran' | 'did-not-run'): Awaitable<boolean> {
    const { leases, cacheDuration } = this.options;
    const settle = (): Awaitable<boolean> => leases.settle?.(cacheKey, token, outcome, cacheDuration) ?? false;
    return this.call('settle() of the lease store', settle);
  }
}
