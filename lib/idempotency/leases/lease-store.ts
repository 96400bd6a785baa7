/**
 * The answer to an attempt to acquire a lease.
 * - `acquired`: the token that asked has the right to run.
 * - `running`: another token holds the lease for `msLeft` more milliseconds unless it renews: from 0 to the `ms` of its
 *   lease, also a fraction.
 * - `done`: the run of `token` was completed; its response is stored under that token.
 */
export type Acquisition =
  | { readonly kind: 'acquired' }
  | { readonly kind: 'running'; readonly token: string; readonly msLeft: number }
  | { readonly kind: 'done'; readonly token: string };

/**
 * The right to run: each key has at most one holder at a time. Every method is ONE atomic step, and may be repeated
 * with the same arguments when its answer was lost: the repetition changes nothing and returns the same (except that
 * `release` returns whether there was something to release).
 *
 * A method that does not know its outcome throws, or rejects. It is called again until `storeTimeout` is over; then the
 * store is unavailable. It must not answer `acquired` or `false` instead: the handler could run twice.
 *
 * Tokens are random, not counted: a counter that starts again could give two holders the same token.
 */
export interface LeaseStore {
  /**
   * Takes the lease for `ms` milliseconds if no token holds it. A token that holds it already acquires it again, for
   * `ms` from now.
   */
  acquire(key: string, token: string, ms: number): Acquisition | Promise<Acquisition>;
  /** Extends the lease to `ms` milliseconds from now. @returns whether the token still holds it. */
  renew(key: string, token: string, ms: number): boolean | Promise<boolean>;
  /**
   * Turns the lease into a record that the run of this token is done, kept for `ms` milliseconds.
   * @returns false, and changes nothing, when another token has taken the lease since.
   */
  complete(key: string, token: string, ms: number): boolean | Promise<boolean>;
  /**
   * Gives up the lease, or the record, of this token.
   * @returns false, and changes nothing, when it is not this token's.
   */
  release(key: string, token: string): boolean | Promise<boolean>;
  /**
   * Optional: calls `onChange` after `key` was completed or released, in any process. Resolves when it listens. It may
   * call too often. Where it is missing, or calls are lost, waiters poll.
   * @returns a function that stops the watch.
   */
  watch?(key: string, onChange: () => void): Promise<() => void>;
}
