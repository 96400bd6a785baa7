/**
 * What an attempt to acquire a lease came to.
 * - `acquired`: the caller has the right to run.
 * - `running`: another token holds the lease for `msLeft` more milliseconds unless it renews.
 * - `done`: the run of `token` was completed; its response is stored under that token.
 */
export type Acquisition =
  | { readonly kind: 'acquired' }
  | { readonly kind: 'running'; readonly token: string; readonly msLeft: number }
  | { readonly kind: 'done'; readonly token: string };

/**
 * The right to run, for each key at most one holder at a time. Every method is ONE atomic step, and may be repeated with
 * the same arguments when its answer was lost on the way: the repetition changes nothing, and answers the same (but `release`
 * answers whether there was something to release).
 *
 * Tokens are random, not counted: a counter that starts again would let an old owner pass for a new one.
 */
export interface LeaseStore {
  /** Takes the lease for `ms` milliseconds if nobody has it; a token that holds it already has acquired it (again for `ms`). */
  acquire(key: string, token: string, ms: number): Acquisition | Promise<Acquisition>;
  /** Extends the lease to `ms` milliseconds from now. @returns whether the token still holds it. */
  renew(key: string, token: string, ms: number): boolean | Promise<boolean>;
  /**
   * Turns the lease into a record, kept for `ms` milliseconds, that the run of this token is done.
   * @returns false, changing nothing, when another token has taken the lease since.
   */
  complete(key: string, token: string, ms: number): boolean | Promise<boolean>;
  /** Gives up the lease, or the record, of this token. @returns false, changing nothing, when it is not this token's. */
  release(key: string, token: string): boolean | Promise<boolean>;
  /**
   * Optional: calls `onChange` after `key` was completed or released, in any process. Resolves when it listens.
   * It may call too often; where it is missing, or calls are lost, waiters ask again from time to time.
   * @returns what stops the watch.
   */
  watch?(key: string, onChange: () => void): Promise<() => void>;
}
