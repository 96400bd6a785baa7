import { inspect } from 'node:util';
import type { Awaitable } from '../../basics/awaitable';
import type { RunFacts, RunPage, RunQuery, RunRecord } from './runs';

/**
 * The answer to an attempt to acquire a lease.
 * - `acquired`: the token that asked has the right to run.
 * - `running`: another token holds the lease for `msLeft` more milliseconds unless it renews: from 0 to the `ms` of its
 *   lease, also a fraction.
 * - `done`: the run of `token` was completed; its response is stored under that token.
 * - `unknown`: the lease of `token` has ended without a record, so its request may have run. Only where `keepUnknown`
 *   of {@link RunFacts} asked for it.
 */
export type Acquisition =
  | { readonly kind: 'acquired' }
  | { readonly kind: 'running'; readonly token: string; readonly msLeft: number }
  | { readonly kind: 'done'; readonly token: string }
  | { readonly kind: 'unknown'; readonly token: string };

/**
 * The right to run: each key has at most one holder at a time. Every method is ONE atomic step, and may be repeated
 * with the same arguments when its answer was lost: the repetition changes nothing and returns the same (except that
 * `release` and `settle` return whether there was something to release, or to settle).
 *
 * A method that does not know its outcome throws, or rejects. It is called once more, within `storeTimeout`; then the
 * store is unavailable. It must not answer `acquired` or `false` instead: the handler could run twice.
 *
 * Tokens are random, not counted: a counter that starts again could give two holders the same token.
 */
export interface LeaseStore {
  /**
   * Takes the lease for `ms` milliseconds if no token holds it. A token that holds it already acquires it again, for
   * `ms` from now.
   */
  acquire(key: string, token: string, ms: number, about?: RunFacts): Acquisition | Promise<Acquisition>;
  /** Extends the lease to `ms` milliseconds from now. @returns whether the token still holds it. */
  renew(key: string, token: string, ms: number): boolean | Promise<boolean>;
  /**
   * Turns the lease, or what is unknown of the run of this token, into a record that it is done, kept for `ms`
   * milliseconds.
   * @param status of its response, for `list` and `get`; absent if there is none to keep.
   * @returns false, and changes nothing, when another token has taken the lease since.
   */
  complete(key: string, token: string, ms: number, status?: number): boolean | Promise<boolean>;
  /**
   * Gives up the lease or the record of this token, or what is unknown of its run.
   * @returns false, and changes nothing, when it is not this token's.
   */
  release(key: string, token: string): boolean | Promise<boolean>;
  /**
   * Optional: calls `onChange` after `key` was completed or released, in any process. Resolves when it listens. It may
   * call too often. Where it is missing, or calls are lost, waiters poll.
   * @returns a function that stops the watch.
   */
  watch?(key: string, onChange: () => void): Promise<() => void>;
  /**
   * Optional: says of an unknown run whether it `ran`, which makes a record for `ms` milliseconds, or frees its key.
   * @returns false, and changes nothing, when there is no unknown run of this token.
   */
  settle?(key: string, token: string, outcome: 'ran' | 'did-not-run', ms: number): boolean | Promise<boolean>;
  /**
   * Optional: returns a random text that the store keeps with its data, for `keyHash` and `callerHash`. Each middleware
   * asks once.
   */
  salt?(): string | Promise<string>;
  /** Optional: returns runs, the newest first. */
  list?(query: RunQuery): Promise<RunPage>;
  /** Optional: returns the run of a key. */
  get?(key: string): Promise<RunRecord | undefined>;
}

/**
 * Returns the answer of `acquire`, which may come from an application's own lease store. Its `msLeft` may be missing,
 * or a column of 64 bits, of which drivers make a bigint or text.
 * @throws TypeError for anything that is not an acquisition, or that was not asked for.
 */
export function validAcquisition(answer: Acquisition): Acquisition {
  const { kind, token, msLeft } = Object(answer) as { readonly [name in 'kind' | 'token' | 'msLeft']?: unknown };
  if (kind === 'acquired') return { kind };
  if (kind === 'running' && typeof token === 'string') return { kind, token, msLeft: Number(msLeft) };
  if ((kind === 'done' || kind === 'unknown') && typeof token === 'string') return { kind, token };
  throw invalid('acquire', answer, "{ kind: 'acquired' }, or kind 'running' or 'done' with its token");
}

/** Returns the answer of `complete`. @throws TypeError for a missing `return`, or a number of rows. */
export function validCompletion(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  throw invalid('complete', answer, 'true or false');
}

function invalid(method: string, answer: unknown, expected: string): TypeError {
  return new TypeError(
    `leases.${method}() answered ${inspect(answer).slice(0, 80)} instead of ${expected}. ` +
      'Check the lease store with leaseStoreContract of bindonce/testing.',
  );
}

/** The run that has a key: its lease, or the record that it is done. Times are those of the store's clock. */
export interface HeldRun {
  readonly token: string;
  readonly isDone: boolean;
  readonly expires: number;
  /** Until then it is unknown what the run has done if its lease has ended. */
  readonly unknownUntil: number;
  readonly status?: number | undefined;
  readonly about?: RunFacts | undefined;
}

/** Decides on the run of a key, if that has one which is not over, and may put another run in its place, or none. */
export type Decision<T> = (run: HeldRun | undefined, now: number, put: (next?: HeldRun) => void) => T;

/** Leases of a store that reads and replaces the run of one key in one atomic step. */
export abstract class RecordLeases {
  protected abstract step<T>(key: string, decide: Decision<T>): Awaitable<T>;

  acquire(key: string, token: string, ms: number, about?: RunFacts): Awaitable<Acquisition> {
    return this.step<Acquisition>(key, (run, now, put) => {
      if (run?.isDone) return { kind: 'done', token: run.token };
      if (run && run.token !== token)
        return isUnknown(run, now)
          ? { kind: 'unknown', token: run.token }
          : { kind: 'running', token: run.token, msLeft: Math.max(0, run.expires - now) };
      const unknownUntil = now + (about?.keepUnknown ?? 0);
      put({ token, isDone: false, expires: now + ms, unknownUntil, about: about ?? run?.about });
      return { kind: 'acquired' };
    });
  }

  renew(key: string, token: string, ms: number): Awaitable<boolean> {
    return this.step(key, (run, now, put) => {
      if (run?.token !== token || run.isDone || isUnknown(run, now)) return false;
      put({ ...run, expires: now + ms });
      return true;
    });
  }

  complete(key: string, token: string, ms: number, status?: number): Awaitable<boolean> {
    return this.step(key, (run, now, put) => {
      if (run && run.token !== token) return false;
      const { status: known, about } = run ?? {};
      put({ token, isDone: true, expires: now + ms, unknownUntil: 0, status: status ?? known, about });
      return true;
    });
  }

  release(key: string, token: string): Awaitable<boolean> {
    return this.step(key, (run, _now, put) => {
      if (run?.token !== token) return false;
      put();
      return true;
    });
  }
}

export const isUnknown = ({ isDone, expires, unknownUntil }: HeldRun, now: number): boolean =>
  !isDone && expires <= now && unknownUntil > now;
