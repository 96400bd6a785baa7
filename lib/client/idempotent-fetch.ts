import { attempt, type Outcome } from './attempt.js';
import { CallTime } from './call-time.js';
import { IdempotentFetchError } from './fetch-error.js';
import { resolveOptions, type IdempotentFetchOptions, type ResolvedOptions } from './options.js';
import { backoff } from './pauses.js';
import { checkName, prepare, type IdempotentRequestInit, type PreparedRequest } from './prepared-request.js';
import { storageFailed, StoredKeys, type OpenKey } from './stored-keys.js';

/** A definite answer. */
export interface IdempotentResult {
  /** As `fetch` returns it. Its body has arrived whole. Any status: an error response is an answer, too. */
  readonly response: Response;
  /** Whether it is the stored answer of an earlier attempt. */
  readonly replayed: boolean;
  readonly key: string;
  /** How often the request was sent by this call. */
  readonly attempts: number;
}

export interface IdempotentFetch {
  /**
   * Sends a request until there is a definite answer, with one idempotency key.
   * @throws IdempotentFetchError without a definite answer; TypeError for a request that cannot be sent twice; the
   * reason of `signal` when it aborts (the key is kept then).
   */
  (url: string | URL, init?: IdempotentRequestInit): Promise<IdempotentResult>;
  /** Forgets the key of an unfinished operation: its next call is a new operation, which may run a second time. */
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
  return Object.assign((url: string | URL, init: IdempotentRequestInit = {}) => send(url, init, resolved, keys), {
    forget: async (operation: string) => {
      checkName('operation', operation);
      await keys.forget(operation);
    },
  });
}

async function send(
  url: string | URL,
  init: IdempotentRequestInit,
  options: ResolvedOptions,
  keys: StoredKeys,
): Promise<IdempotentResult> {
  const time = new CallTime(options.deadline, init.signal ?? undefined);
  const request = await prepare(url, init, options);
  const own = await openKey(request, init, keys, time, options);
  let mayHaveRun = own.isFound;
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt(request, own.key, time, options);
    if (outcome.kind === 'answered') {
      const { response, isReplay: replayed, settles } = outcome;
      // An earlier attempt may have run, and a 401 now, for example, does not tell: its key is still needed.
      if (settles || !mayHaveRun)
        await time.within(options.deadline, () => keys.close(own, settles)).catch(() => undefined);
      return { response, replayed, key: own.key, attempts };
    }
    mayHaveRun ||= outcome.mayHaveRun;
    const pause = Math.max(outcome.pause, backoff(attempts, options));
    if (pause >= time.left) throw gaveUp(own.key, attempts, pause, outcome);
    await time.pause(pause);
  }
}

async function openKey(
  request: PreparedRequest,
  { operation, key }: IdempotentRequestInit,
  keys: StoredKeys,
  time: CallTime,
  { deadline }: ResolvedOptions,
): Promise<OpenKey> {
  if (key !== undefined) return { key, isFound: true };
  const digest = await request.digest();
  try {
    return await time.within(deadline, () => keys.open(operation, digest));
  } catch (error) {
    time.throwIfAborted();
    // A storage that does not answer has failed, too.
    throw error instanceof IdempotentFetchError ? error : storageFailed(error);
  }
}

function gaveUp(
  key: string,
  attempts: number,
  pause: number,
  { response, cause }: Extract<Outcome, { kind: 'unanswered' }>,
): IdempotentFetchError {
  const last = response ? `the answer was ${response.status}` : `there was no answer (${String(cause)})`;
  return new IdempotentFetchError(
    'gave-up',
    `gave up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${last}, and another attempt, in ` +
      `${Math.ceil(pause)} ms, would begin after the deadline. The operation may have run; its key is kept.`,
    { key, attempts, response, cause },
  );
}
