/**
 * Why a call ended without a definite answer.
 * - `gave-up`: the deadline is too near for another attempt. The operation may have run; its key is kept, unless
 *   another call (a double click, another tab) has got its answer.
 * - `operation-changed`: the operation has an unfinished request with other values. Nothing was sent.
 * - `storage-failed`: the key could not be read or stored, or `forget()` could not remove it. Nothing was sent.
 */
export type IdempotentFetchErrorCode = 'gave-up' | 'operation-changed' | 'storage-failed';

/** The error of a call that ended without a definite answer. Its `cause` is the last network or storage error. */
export class IdempotentFetchError extends Error {
  override readonly name = 'IdempotentFetchError';

  constructor(
    /** Why the call ended. */
    readonly code: IdempotentFetchErrorCode,
    message: string,
    cause?: unknown,
    /** The idempotency key; undefined if there is none yet. */
    readonly key?: string,
    /** How often the request was sent. */
    readonly attempts = 0,
    /** The last answer, with a body that can be read; undefined if the last attempt got none. */
    readonly response?: Response,
  ) {
    super(`idempotentFetch: ${message}`, cause === undefined ? undefined : { cause });
  }
}

/** @throws TypeError for what the caller has to correct. */
export function refuse(message: string): never {
  throw new TypeError(`idempotentFetch: ${message}`);
}

/** Describes a value for a message: briefly, and never with the contents of an object. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
