import { steps } from '../../basics/steps';
import { backingStoreOf, isMapLike, type KeyvLike } from '../stores/keyv-like';
import { SweepInterval } from '../stores/sweep-interval';

/** Milliseconds between two sweeps; until then, an expired response only takes memory. */
const SWEEP_INTERVAL = 30_000;

/** Responses that are removed in one turn of the event loop, in about 1 ms. */
const BATCH = 500;

/**
 * Removes expired responses from a Keyv on a Map, where each would stay until it is read; but no request reads it any
 * more.
 */
export class ExpiredResponses {
  /** When each response expires, in milliseconds of the monotonic clock. */
  private readonly expiry = new Map<string, number>();
  private readonly sweeping = new SweepInterval(SWEEP_INTERVAL, () => this.sweep());

  constructor(private readonly keyv: KeyvLike) {}

  /** @param ms milliseconds that the response is kept. */
  written(key: string, ms: number): void {
    this.expiry.set(key, performance.now() + ms);
    this.sweeping.start();
  }

  removed(key: string): void {
    this.expiry.delete(key);
  }

  private sweep(): boolean {
    const now = performance.now();
    const expired: string[] = [];
    for (const [key, expires] of this.expiry) if (expires <= now) expired.push(key);
    for (const key of expired) this.expiry.delete(key);
    void this.remove(expired);
    return this.expiry.size > 0;
  }

  private async remove(keys: readonly string[]): Promise<void> {
    for (const [index, key] of keys.entries()) {
      if (index % BATCH === BATCH - 1) await steps.nextTurn();
      // A failure does no harm: no request asks for this response any more.
      await this.keyv.delete(key).catch(() => undefined);
    }
  }
}

/**
 * Makes the sweep of a store.
 * @returns undefined for a store that removes expired responses itself: every one that is not a collection in this
 * process.
 */
export function expiredResponsesIn(keyv: KeyvLike): ExpiredResponses | undefined {
  return isMapLike(backingStoreOf(keyv)) ? new ExpiredResponses(keyv) : undefined;
}
