/**
 * Why a call ended without a definite answer.
 * - `gave-up`: the deadline is too near for another attempt. The operation may have run; its key is kept, unless
 *   another call (a double click, another tab) has got its answer. Or the body was not read before the deadline:
 *   nothing was sent, `attempts` is 0, and there is no `key`.
 * - `operation-changed`: the operation has an unfinished request with other values. Nothing was sent.
 * - `storage-failed`: the key could not be read or stored, or `forget()` could not remove it. Nothing was sent.
 */
export type IdempotentFetchErrorCode = 'gave-up' | 'operation-changed' | 'storage-failed';

/** Details of a call that failed. */
interface Facts {
  readonly key?: string | undefined;
  readonly attempts?: number;
  readonly response?: Response | undefined;
  readonly cause?: unknown;
}

/** The error of a call that ended without a definite answer. Its `cause` is the last network or storage error. */
export class IdempotentFetchError extends Error {
  override readonly name = 'IdempotentFetchError';
  /** The idempotency key; undefined if there is none yet. */
  readonly key: string | undefined;
  /** How often the request was sent. */
  readonly attempts: number;
  /** The last answer, with a body that can be read; undefined if the last attempt got none. */
  readonly response: Response | undefined;

  constructor(
    /** Why the call ended. */
    readonly code: IdempotentFetchErrorCode,
    message: string,
    { key, attempts = 0, response, cause }: Facts,
  ) {
    super(`idempotentFetch: ${message}`, cause === undefined ? undefined : { cause });
    this.key = key;
    this.attempts = attempts;
    this.response = response;
  }
}

/** @param operation its name, or the digest of its values. */
export function operationChanged(operation: string, key: string): IdempotentFetchError {
  return new IdempotentFetchError(
    'operation-changed',
    `"${operation}" has an unfinished request with other values, which may have run. Finish it with the values it ` +
      'began with, or call forget(operation) if it must not count.',
    { key },
  );
}

export function storageFailed(cause: unknown): IdempotentFetchError {
  return new IdempotentFetchError(
    'storage-failed',
    'the storage failed, so nothing was sent: a key that is not stored would be lost with the page. With ' +
      "whenStorageFails: 'memory', the call continues without it if the storage throws.",
    { cause },
  );
}
