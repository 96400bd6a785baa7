import { refuseIfClosed } from '../leases/closable-leases';
import type { RunId } from '../leases/token';
import { validCompletion } from '../leases/valid-answers';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { PatientCall } from './patient-call';
import { withinTime } from './running-time';
import { callStore } from './store-call';

const STORE = 'set() of the response store, or complete() of the lease store,';

/** A response on its way into the stores: it is written, and then the lease is completed, which publishes it. */
export class PendingResponse {
  private readonly storing: PatientCall<boolean>;
  private isWritten = false;

  /** @param response undefined if there is none to keep: the record that the handler has run is kept all the same. */
  constructor(
    private readonly run: RunId,
    private readonly response: RecordedResponse | undefined,
    private readonly options: ResolvedOptions,
  ) {
    this.storing = new PatientCall(2 * options.storeTimeout);
  }

  get bodyBytes(): number {
    return this.response?.body.length ?? 0;
  }

  /**
   * Stores the response, trying for one `storeTimeout` in all.
   * @param ms milliseconds that the response is kept.
   * @returns false when another request has taken the lease; a promise only if a store does not answer at once.
   * @throws StoreUnavailable
   */
  store(ms: number): boolean | Promise<boolean> {
    return callStore(STORE, () => this.tryToStore(ms), this.options.storeTimeout);
  }

  /**
   * Tries once. Another request may hold the lease without running, because its `acquire` was carried out late. It will
   * release the lease.
   * @param ms milliseconds that the response is kept.
   * @returns whether a response is published, ours or another's.
   */
  async storeOrSee(ms: number): Promise<boolean> {
    const {
      run: { cacheKey, token },
      options: { leases, leaseDuration, storeTimeout },
    } = this;
    if (await withinTime(() => this.tryToStore(ms), storeTimeout)) return true;
    const seen = await withinTime(() => leases.acquire(cacheKey, token, leaseDuration), storeTimeout);
    return seen.kind === 'done';
  }

  /**
   * Writes the response, under the run's own token, and then completes the lease. Both together have one time limit.
   * @throws Error if the application has closed the store: Keyv would open it again, and the process would never end.
   */
  private tryToStore(ms: number): boolean | Promise<boolean> {
    refuseIfClosed(this.options.leases);
    return this.storing.make(() => {
      const written = this.write(ms);
      if (written) return this.completeAfter(written, ms);
      this.isWritten = true;
      return this.complete(ms);
    });
  }

  private write(ms: number): void | Promise<void> {
    const {
      run: { cacheKey, token },
      response,
      options,
    } = this;
    if (response && !this.isWritten)
      return options.responses.set(cacheKey, token, response, ms + extraLifetime(options));
  }

  private async completeAfter(written: Promise<void>, ms: number): Promise<boolean> {
    await written;
    this.isWritten = true;
    return this.complete(ms);
  }

  private complete(ms: number): boolean | Promise<boolean> {
    const { cacheKey, token } = this.run;
    // A store that fails in between may have lost what it reported as written.
    const failed = (error: unknown): never => {
      this.isWritten = false;
      throw error;
    };
    try {
      const completed = this.options.leases.complete(cacheKey, token, ms);
      return typeof completed === 'boolean' ? completed : Promise.resolve(completed).then(validCompletion, failed);
    } catch (error) {
      return failed(error);
    }
  }
}

/**
 * Returns the extra lifetime of a stored response, so that it never expires before the lease record that points to it:
 * one storeTimeout between writing it and completing the lease, one between reading the record and reading it, and 10 s
 * for the difference between the clocks of two machines (Keyv compares wall clocks).
 */
const extraLifetime = ({ storeTimeout }: ResolvedOptions): number => 2 * storeTimeout + 10_000;
