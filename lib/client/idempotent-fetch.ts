import { attempt, type AttemptResult } from './attempt.js';
import { CallTime } from './call-time.js';
import { IdempotentFetchError, storageFailed } from './fetch-error.js';
import { resolveOptions, shown, type IdempotentFetchOptions, type ResolvedOptions } from './options.js';
import { backoff } from './pauses.js';
import { prepare, type PreparedRequest } from './prepared-request.js';
import { checkName, checkRequest, type IdempotentRequestInit } from './request-init.js';
import { StoredKeys, type OpenKey } from './stored-keys.js';

/** A definite answer. */
export interface IdempotentResult {
  /** As `fetch` returns it. Its body has arrived whole. Any status: an error response is an answer, too. */
  readonly response: Response;
  /** Whether it is the stored answer of an earlier attempt. */
  readonly replayed: boolean;
  /** The idempotency key that was sent. */
  readonly key: string;
  /** How often the request was sent by this call. */
  readonly attempts: number;
}

/** A `fetch` for requests that must run once, made by {@link idempotentFetch}. */
export interface IdempotentFetch {
  /**
   * Sends a request until there is a definite answer, with one idempotency key.
   * @throws IdempotentFetchError without a definite answer; TypeError for a request that cannot be sent twice; the
   * reason of `signal` when it aborts (the key is kept then).
   */
  (url: string | URL, init?: IdempotentRequestInit): Promise<IdempotentResult>;
  /**
   * Forgets the key of an unfinished operation: its next call is a new operation, which may run a second time.
   * @throws IdempotentFetchError when the storage fails: the key may still be there.
   */
  forget(operation: string): Promise<void>;
}

/**
 * Makes a `fetch` for requests that must run once: it sends an idempotency key, the same with every attempt and after a
 * reload, and retries until the answer is definite.
 * @throws TypeError for an unknown option or an invalid value.
 */
export function idempotentFetch(options: IdempotentFetchOptions = {}): IdempotentFetch {
  const resolved = resolveOptions(options);
  const keys = new StoredKeys(resolved);
  return Object.assign(
    (url: string | URL, init?: IdempotentRequestInit | null) => send(url, init ?? {}, resolved, keys),
    { forget: (operation: string) => forget(operation, resolved, keys) },
  );
}

/**
 * The longest that an answer waits for the storage to remove its key, in milliseconds: longer than another page may
 * look for that key in the storage, which holds up the removal.
 */
const LONGEST_CLOSING = 1_500;

async function send(
  url: string | URL,
  init: IdempotentRequestInit,
  options: ResolvedOptions,
  keys: StoredKeys,
): Promise<IdempotentResult> {
  checkRequest(url, init);
  const time = new CallTime(options.deadline, init.signal ?? undefined);
  const request = await prepareInTime(url, init, time, options);
  const own = await openKey(request, keys, time, options);
  let mayHaveRun = own.isFound;
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt(request, own.key, time, options);
    mayHaveRun ||= outcome.mayHaveRun;
    if (outcome.kind === 'answered') {
      const { response, isReplay: replayed, settles } = outcome;
      // An attempt may have run, and a 401 or a 500 now, for example, does not tell: its key is still needed.
      if (settles || !mayHaveRun)
        await time.within(LONGEST_CLOSING, () => keys.close(own, settles)).catch(() => undefined);
      return { response, replayed, key: own.key, attempts };
    }
    const pause = Math.max(outcome.pause, backoff(attempts, options));
    if (!(await time.pause(pause))) throw gaveUp(own, attempts, pause, outcome);
  }
}

async function prepareInTime(
  url: string | URL,
  init: IdempotentRequestInit,
  time: CallTime,
  options: ResolvedOptions,
): Promise<PreparedRequest> {
  try {
    return await time.within(options.deadline, () => prepare(url, init, options));
  } catch (cause) {
    time.throwIfAborted();
    if ((cause as Error).name !== 'TimeoutError') throw cause;
    const message = 'gave up before the first attempt: the body was not read before the deadline. Nothing was sent.';
    throw new IdempotentFetchError('gave-up', message, { cause });
  }
}

async function openKey(
  { identity }: PreparedRequest,
  keys: StoredKeys,
  time: CallTime,
  { deadline }: ResolvedOptions,
): Promise<OpenKey> {
  if ('key' in identity) return { key: identity.key, isFound: true };
  try {
    return await time.within(deadline, signal => keys.open(identity, signal));
  } catch (error) {
    time.throwIfAborted();
    // A storage that does not answer has failed, too.
    throw error instanceof IdempotentFetchError ? error : storageFailed(error);
  }
}

async function forget(operation: string, { deadline }: ResolvedOptions, keys: StoredKeys): Promise<void> {
  checkName('operation', operation);
  try {
    await new CallTime(deadline, undefined).within(deadline, () => keys.forget(operation));
  } catch (cause) {
    const message = `the storage failed, so the key of "${operation}" may still be there. Call forget() again.`;
    throw new IdempotentFetchError('storage-failed', message, { cause });
  }
}

function gaveUp(
  { key, name }: OpenKey,
  attempts: number,
  pause: number,
  { response, cause }: Extract<AttemptResult, { kind: 'unanswered' }>,
): IdempotentFetchError {
  const last = response ? `the answer was ${response.status}` : `there was no answer (${reasonOf(cause)})`;
  return new IdempotentFetchError(
    'gave-up',
    `gave up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${last}, and another attempt, in ` +
      `${Math.ceil(pause)} ms, would be too late for the deadline. The operation may have run; ` +
      (name === undefined
        ? 'repeat it with the same key.'
        : 'its key is kept, unless another call has got its answer.'),
    { key, attempts, response, cause },
  );
}

/** Describes why an attempt failed. The error of `fetch` says only that it did; its cause may say why. */
function reasonOf(error: unknown): string {
  if (!isError(error)) return shown(error);
  const { name, message, cause } = error;
  // Where a host has several addresses, the error of Node has a code instead of a message.
  const why = isError(cause) ? cause.message || cause.code : undefined;
  return [name, message, why].filter(part => typeof part === 'string' && part !== '').join(': ');
}

/** Returns true for an error, also of another frame, whose class is another one. */
function isError(value: unknown): value is Error & { readonly code?: unknown } {
  const { name, message } = (value ?? {}) as Partial<Error>;
  return typeof name === 'string' && typeof message === 'string';
}
