import { setImmediate as turn } from 'node:timers/promises';
import { holderOf, isMapLike, type KeyvLike } from '../stores/keyv-like';
import { SweepInterval } from '../stores/sweep-interval';
import { BoundedMap } from './default-store';

/** Milliseconds between two sweeps; until then, an expired response is only dead weight. */
const SWEEP_INTERVAL = 30_000;

/** Responses that are removed in one turn of the event loop: about 1 ms. */
const BATCH = 500;

/**
 * Removes expired responses from a Keyv on a Map, where each would stay until somebody asks for it, which nobody does.
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
      if (index % BATCH === BATCH - 1) await turn();
      // Nobody asks for it any more, and there is nobody that a failure could be told to.
      await this.keyv.delete(key).catch(() => undefined);
    }
  }
}

/**
 * @returns undefined for a store that forgets by itself: the default store, and every one that is not a collection in
 * this process.
 */
export function expiredResponsesIn(keyv: KeyvLike): ExpiredResponses | undefined {
  const holder = holderOf(keyv);
  return isMapLike(holder) && !(holder instanceof BoundedMap) ? new ExpiredResponses(keyv) : undefined;
}
