import { answerIn, type Answer } from './answer.js';
import { resolveOptions, shown, type IdempotentFetchOptions, type ResolvedOptions } from './options.js';
import {
  checkName,
  checkRequest,
  nameOf,
  prepare,
  type IdempotentRequestInit,
  type PreparedRequest,
} from './request.js';

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
  return Object.assign((url: string | URL, init?: IdempotentRequestInit | null) => send(url, init ?? {}, resolved), {
    forget: (operation: string) => forget(operation, resolved),
  });
}

/** Milliseconds. No attempt begins so near to the deadline: it could run, and its answer would hardly be seen. */
const SHORTEST_ATTEMPT = 50;
/** The longest that an answer waits for the storage to remove its key, in milliseconds. */
const LONGEST_REMOVAL = 1_500;

async function send(url: string | URL, init: IdempotentRequestInit, options: ResolvedOptions) {
  checkRequest(url, init);
  const { deadline, baseDelay, maxDelay, onRetry } = options;
  const end = performance.now() + deadline;
  const left = (): number => end - performance.now();
  const request = await within(deadline, init.signal, () => prepare(url, init, options));
  const [key, isFound] = await openKey(request, left(), options);
  let mayHaveRun = isFound;
  for (let attempts = 1; ; attempts++) {
    const { response, cause, replayed = false, outcome, pause: asked } = await attempt(request, key, left(), options);
    mayHaveRun ||= outcome === 'unknown';
    if (response && asked === undefined) {
      // An attempt may have run, and a 401 or a 500 now, for example, does not tell: its key is still needed.
      if (outcome === 'settled' || !mayHaveRun) await closeKey(request, key, outcome === 'settled', options);
      return { response, replayed, key, attempts };
    }
    // At random up to a limit that doubles: clients that failed together spread out.
    const ms = Math.max(asked ?? 0, Math.random() * Math.min(maxDelay, baseDelay * 2 ** (attempts - 1)));
    if (left() - ms >= SHORTEST_ATTEMPT) {
      onRetry({ attempt: attempts, key, pause: ms, response, error: cause });
      await pause(ms, request.signal, response === undefined);
      // A pause takes longer if the computer sleeps, or the page is busy.
      if (left() >= SHORTEST_ATTEMPT) continue;
    }
    const last = response ? `the answer was ${response.status}` : `there was no answer (${reasonOf(cause)})`;
    const kept = 'its key is kept, unless another call has got its answer.';
    const message =
      `gave up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${last}, and another attempt, in ` +
      `${Math.ceil(ms)} ms, would be too late for the deadline. The operation may have run; ` +
      (request.key === undefined ? kept : 'repeat it with the same key.');
    throw new IdempotentFetchError('gave-up', message, cause, key, attempts, response);
  }
}

/** Sends the request once. @throws the reason of the caller's signal. */
async function attempt(request: PreparedRequest, key: string, ms: number, options: ResolvedOptions): Promise<Answer> {
  const { url, init, signal: caller } = request;
  // The `fetch` of a browser must not be called as a method of another object.
  const { fetch, headerName, replayedHeader, attemptTimeout } = options;
  const headers = new Headers(init.headers);
  headers.set(headerName, key);
  try {
    return await within(Math.min(attemptTimeout, ms), caller, async signal => {
      const response = await fetch(url, { ...init, headers, signal });
      // Only an answer that has arrived whole is one: its connection may break in the middle.
      const body = await response.clone().text();
      return { response, ...answerIn(response, body, replayedHeader) };
    });
  } catch (cause) {
    caller?.throwIfAborted();
    return { cause, pause: 0, outcome: 'unknown' };
  }
}

/**
 * Finds the key of an operation, which an earlier call may have begun, or makes and stores a new one.
 * @param ms how long the storage may take.
 * @returns the key, and whether an earlier call has begun with it.
 * @throws IdempotentFetchError when the operation has an unfinished request with other values, or the storage fails;
 * the reason of the signal when it aborts.
 */
async function openKey(request: PreparedRequest, ms: number, options: ResolvedOptions): Promise<[string, boolean]> {
  const { key: own, name, digest, signal } = request;
  if (own !== undefined) return [own, true];
  const { storage, keyLifetime, prefix } = options;
  const key = crypto.randomUUID();
  // JSON has no Infinity.
  const until = Math.min(Date.now() + keyLifetime, Number.MAX_SAFE_INTEGER);
  const claim = Promise.resolve().then(() => storage.claim(name, { key, digest, until }));
  const entry = await within(ms, signal, () => claim).catch((cause: unknown) => {
    // Nothing is sent, so a new key must not stay, also if it is stored later than this.
    claim.then(() => closeKey(request, key, false, options)).catch(() => undefined);
    signal?.throwIfAborted();
    const message =
      'the storage failed, so nothing was sent: a key that is not stored would be lost with the page. With ' +
      "whenStorageFails: 'memory', the call continues without it if the storage throws.";
    throw new IdempotentFetchError('storage-failed', message, cause);
  });
  if (entry.digest === digest) return [entry.key, entry.key !== key];
  const message =
    `"${name.slice(nameOf('', prefix).length)}" has an unfinished request with other values, which may have run. ` +
    'Finish it with the values it began with, or call forget(operation) if it must not count.';
  throw new IdempotentFetchError('operation-changed', message, undefined, entry.key);
}

/**
 * Removes the key of a finished operation, unless the operation has begun anew, in another tab for example. A definite
 * answer stays one if the storage fails now.
 * @param isSettled false if all that is known is that the call itself ran nothing: another call with the key may have.
 */
async function closeKey(request: PreparedRequest, key: string, isSettled: boolean, { storage }: ResolvedOptions) {
  if (request.key !== undefined) return;
  const removed = Promise.resolve().then(() => storage.remove(request.name, key, !isSettled));
  await within(LONGEST_REMOVAL, undefined, () => removed).catch(() => undefined);
}

/** @throws IdempotentFetchError when the storage fails. */
async function forget(operation: string, { storage, deadline, prefix }: ResolvedOptions): Promise<void> {
  checkName('operation', operation);
  const name = nameOf(operation, prefix);
  // One that has expired already: it only asks for the key.
  const nothing = { key: '', digest: '', until: 0 };
  const forgotten = async (): Promise<unknown> => storage.remove(name, (await storage.claim(name, nothing)).key, false);
  await within(deadline, undefined, forgotten).catch((cause: unknown) => {
    const message = `the storage failed, so the key of "${operation}" may still be there. Call forget() again.`;
    throw new IdempotentFetchError('storage-failed', message, cause);
  });
}

/** Describes why an attempt failed. The error of `fetch` says only that it did; its cause may say why. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = Object(error) as Partial<Error>;
  const why = Object(cause) as { readonly message?: unknown; readonly code?: unknown };
  // Where a host has several addresses, the error of Node has a code instead of a message.
  const parts = [name, message, why.message || why.code];
  return parts.filter(part => typeof part === 'string' && part !== '').join(': ') || shown(error);
}

type Signal = AbortSignal | null | undefined;

/**
 * Runs work with a signal that aborts after `ms` milliseconds, or with the caller's signal, and rejects then with its
 * reason, whether the work heeds the signal or not.
 */
export async function within<T>(ms: number, caller: Signal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = AbortSignal.timeout(Math.max(0, Math.round(ms)));
  const signal = AbortSignal.any(caller ? [limit, caller] : [limit]);
  signal.throwIfAborted();
  const aborted = new Promise<never>((_resolve, reject) => {
    // To the limit, too: Node 20 collects a timeout that only `any` knows, and it never fires.
    for (const one of [signal, limit]) one.addEventListener('abort', () => reject(one.reason as Error));
  });
  return Promise.race([work(signal), aborted]);
}

/**
 * Waits.
 * @param endsOnline whether the wait is over as soon as the page is online again.
 * @throws the reason of the signal when it aborts.
 */
async function pause(ms: number, signal: Signal, endsOnline: boolean): Promise<void> {
  signal?.throwIfAborted();
  const over = new AbortController();
  let timer;
  await new Promise<unknown>(resolve => {
    timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', resolve, over);
    // A page hears that it has a network again. Node has no such events.
    if (endsOnline) (globalThis as Partial<EventTarget>).addEventListener?.('online', resolve, over);
  });
  clearTimeout(timer);
  over.abort();
  signal?.throwIfAborted();
}
