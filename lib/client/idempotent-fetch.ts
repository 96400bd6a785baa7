import { attempt, type AttemptResult } from './attempt.js';
import { IdempotentFetchError, shown } from './error.js';
import { Keys, type OpenKey } from './keys.js';
import { resolveOptions, type IdempotentFetchOptions, type ResolvedOptions } from './options.js';
import { checkRequest, prepare, type IdempotentRequestInit } from './request.js';
import { backoff, pause, within } from './time.js';

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
  const keys = new Keys(resolved);
  return Object.assign(
    (url: string | URL, init?: IdempotentRequestInit | null) => send(url, init ?? {}, resolved, keys),
    { forget: (operation: string) => keys.forget(operation) },
  );
}

/** Milliseconds. No attempt begins so near to the deadline: it could run, and its answer would hardly be seen. */
const SHORTEST_ATTEMPT = 50;

async function send(
  url: string | URL,
  init: IdempotentRequestInit,
  options: ResolvedOptions,
  keys: Keys,
): Promise<IdempotentResult> {
  checkRequest(url, init, options);
  const signal = init.signal ?? undefined;
  const end = performance.now() + options.deadline;
  const left = (): number => end - performance.now();
  const request = await within(options.deadline, signal, () => prepare(url, init, options));
  const own = await keys.open(request.identity, left(), signal);
  let mayHaveRun = own.isFound;
  for (let attempts = 1; ; attempts++) {
    const result = await attempt(request, own.key, Math.min(options.attemptTimeout, left()), signal, options);
    mayHaveRun ||= result.mayHaveRun;
    if (result.kind === 'answered') {
      const { response, isReplay: replayed, settles } = result;
      // An attempt may have run, and a 401 or a 500 now, for example, does not tell: its key is still needed.
      if (settles || !mayHaveRun) await keys.close(own, settles);
      return { response, replayed, key: own.key, attempts };
    }
    const { response, cause } = result;
    const ms = Math.max(result.pause, backoff(attempts, options));
    if (left() - ms < SHORTEST_ATTEMPT) throw gaveUp(own, attempts, ms, result);
    options.onRetry({ attempt: attempts, key: own.key, pause: ms, response, error: cause });
    await pause(ms, signal, response === undefined);
    // A pause takes longer if the computer sleeps, or the page is busy.
    if (left() < SHORTEST_ATTEMPT) throw gaveUp(own, attempts, ms, result);
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
  const { name, message, cause } = Object(error) as Partial<Error>;
  const why = Object(cause) as { readonly message?: unknown; readonly code?: unknown };
  // Where a host has several addresses, the error of Node has a code instead of a message.
  const parts = [name, message, why.message || why.code];
  return parts.filter(part => typeof part === 'string' && part !== '').join(': ') || shown(error);
}
