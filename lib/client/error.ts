/**
 * Why a call ended without a definite answer.
 * - `gave-up`: the deadline is too near for another attempt. The operation may have run; its key is kept, unless
 *   another call (a double click, another tab) has got its answer.
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

/** @throws TypeError for what the caller has to correct. */
export function refuse(message: string): never {
  throw new TypeError(`idempotentFetch: ${message}`);
}

/** Describes a value for a message: briefly, and never with the contents of an object. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
