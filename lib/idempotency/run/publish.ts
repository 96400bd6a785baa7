import { setTimeout as pause } from 'node:timers/promises';
import { after, recovering, type Awaitable } from '../../basics/awaitable';
import type { Exchange } from './exchange';
import { RENEWALS_PER_LEASE, type LocalRun } from '../leases/local-runs';
import type { RecordedResponse } from '../responses/recorded-response';

/** Milliseconds between two attempts in the background, at most. */
const LONGEST_PAUSE = 1_000;

/**
 * Stores a response. If that fails, or takes longer than `storeTimeout`, it throws, and goes on in the background until
 * it succeeds, another run's response is published, or `cacheDuration` is over: the handler has run, and must not run
 * again because of the store.
 * @param response undefined if there is none to keep.
 * @returns false when another request has taken the lease.
 * @throws StoreUnavailable
 */
export function publish(exchange: Exchange, run: LocalRun, response: RecordedResponse | undefined): Awaitable<boolean> {
  // Not the exchange: storing may go on for long.
  const { stores, id } = exchange;
  const { storeTimeout, cacheDuration, leaseDuration } = exchange.options;
  const begun = performance.now();
  const until = begun + cacheDuration;
  const write = (deadline: number, now = performance.now()): Awaitable<boolean> =>
    stores.store(id, response, Math.max(1, Math.ceil(until - now)), deadline - now);
  const storeLater = async (): Promise<void> => {
    for (;;) {
      await pause(Math.min(LONGEST_PAUSE, leaseDuration / RENEWALS_PER_LEASE), undefined, { ref: false });
      if (performance.now() >= until) return;
      try {
        const held = await stores.acquireAgain(id);
        // Ours, which an earlier attempt has completed, whose answer was late or lost; or another's.
        if (held.kind === 'done') return;
        // Another request may hold the lease without running, because its `acquire` was carried out late.
        if (held.kind === 'acquired' && (await write(performance.now() + storeTimeout))) return;
      } catch {
        // The store is still not available: the next attempt follows.
      }
    }
  };
  const first = (): Awaitable<boolean> => {
    const deadline = begun + storeTimeout;
    if (deadline < run.leaseUntil) return write(deadline, begun);
    // Extends the lease, or acquires it anew if it has expired: only who has it stores.
    return after(stores.acquireAgain(id), held =>
      held.kind === 'acquired' ? write(deadline) : held.kind === 'done' && held.token === id.token,
    );
  };
  return recovering(first, error => {
    void run.keepUntil(storeLater(), response?.body.length ?? 0);
    throw error;
  });
}
