import type { Awaitable } from '../../basics/awaitable';
import type { Acquisition } from '../leases/lease-store';
import type { RunId } from '../leases/token';
import type { ResolvedOptions } from '../options/resolved-options';
import { localRun } from './local-runs';

/**
 * Acquires leases. While this process is storing the response of an earlier run, that run's lease is acquired anew
 * instead: when the store comes back after the lease has expired, a new request must not be faster than the storing.
 */
export class AcquireOrHold {
  constructor(private readonly options: Pick<ResolvedOptions, 'leases' | 'leaseDuration'>) {}

  /** Asks for the lease of a run, for `ms` milliseconds. */
  acquire({ cacheKey, token }: RunId, ms: number): Awaitable<Acquisition> {
    const earlier = this.tokenStoredHere(cacheKey);
    return earlier === undefined
      ? this.options.leases.acquire(cacheKey, token, ms)
      : this.acquireFor(earlier, cacheKey, token, ms);
  }

  /**
   * Returns the token of an earlier run that must get the lease which a run has just acquired: its storing may have
   * begun since the lease was asked for; a slow store has granted it only after the earlier one had expired.
   */
  earlierThan(run: RunId, acquisition: Acquisition): string | undefined {
    return acquisition.kind === 'acquired' ? this.tokenStoredHere(run.cacheKey) : undefined;
  }

  /** Hands the lease of a run over to an earlier run. */
  async handOver(earlier: string, { cacheKey, token }: RunId, ms: number): Promise<Acquisition> {
    await this.options.leases.release(cacheKey, token);
    return this.acquireFor(earlier, cacheKey, token, ms);
  }

  /** Acquires the lease for an earlier run; for the new one, if the earlier one has ended meanwhile. */
  private async acquireFor(earlier: string, cacheKey: string, token: string, ms: number): Promise<Acquisition> {
    const { leases, leaseDuration } = this.options;
    // For a whole lease, whatever `ms` is: `purge()` asks for a short one.
    const forEarlier = await leases.acquire(cacheKey, earlier, leaseDuration);
    if (forEarlier.kind !== 'acquired') return forEarlier;
    if (this.tokenStoredHere(cacheKey) === earlier) return { kind: 'running', token: earlier, msLeft: leaseDuration };
    // The earlier run has ended meanwhile. If its record has expired, too, the lease was acquired under the token of a
    // run that is over, so it is released here.
    const forOwn = await leases.acquire(cacheKey, token, ms);
    if (forOwn.kind !== 'running' || forOwn.token !== earlier) return forOwn;
    await leases.release(cacheKey, earlier);
    return leases.acquire(cacheKey, token, ms);
  }

  /** Returns the token of the run whose response this process is storing under a key. */
  private tokenStoredHere(cacheKey: string): string | undefined {
    const run = localRun(cacheKey, this.options.leases);
    return run?.phase === 'storing' ? run.token : undefined;
  }
}
