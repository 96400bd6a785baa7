import type { ResolvedOptions } from './options.js';
import type { PreparedRequest } from './request.js';
import { retryAfter, within } from './time.js';

/**
 * The result of one attempt.
 * - `answered`: with an answer that another attempt would not improve. `settles` says whether it tells what became of
 *   the operation, whichever attempt has run it.
 * - `unanswered`: another attempt may get a definite answer, not before `pause` milliseconds.
 *
 * `mayHaveRun` says whether the operation may have run without a definite answer: by this attempt, or by another one
 * that the answer speaks of.
 */
export type AttemptResult = { readonly mayHaveRun: boolean } & (
  | { readonly kind: 'answered'; readonly response: Response; readonly isReplay: boolean; readonly settles: boolean }
  | { readonly kind: 'unanswered'; readonly response?: Response; readonly cause?: unknown; readonly pause: number }
);

/**
 * The server, or a proxy on the way, does not know the outcome, or asks for a retry. (520 to 524 are Cloudflare's.)
 */
const RETRYABLE = [408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524];
/** Refused before anything was done: too early, or too many requests. */
const NOT_RUN = [425, 429];
/**
 * The longest pause in milliseconds while another attempt runs. `Retry-After` says then when the key is free if that
 * attempt has died; as a rule, its answer is there much sooner.
 */
const LONGEST_IN_FLIGHT = 2_000;
/**
 * About the caller (401, 403), from a gateway or another version of the server that does not know the route at this
 * moment (404, 405, 410, 421), or about the way to the server: its proxy, its protocol, the size of all headers (407,
 * 426, 431); and not about the operation.
 */
const OTHER_REASONS = [401, 403, 404, 405, 407, 410, 421, 426, 431];
/** Problems with the header of the key, which something on the way may have removed or changed. */
const KEY_PROBLEMS = ['key-missing', 'key-repeated', 'key-malformed'];
/** Problems that say that the operation, or another one with this key, has run, but not what came of it. */
const RAN_BEFORE = ['response-unavailable', 'key-reused'];
const IN_FLIGHT = 'request-in-flight';
/** Codes on which the client acts. None is the end of another one. */
const KNOWN_CODES = [IN_FLIGHT, ...KEY_PROBLEMS, ...RAN_BEFORE];

/**
 * Sends the request once.
 * @param ms how long it may take.
 * @throws the reason of the caller's signal.
 */
export async function attempt(
  { url, init }: PreparedRequest,
  key: string,
  ms: number,
  caller: AbortSignal | undefined,
  options: ResolvedOptions,
): Promise<AttemptResult> {
  const headers = new Headers(init.headers);
  headers.set(options.headerName, key);
  // The `fetch` of a browser must not be called as a method of another object.
  const { fetch } = options;
  try {
    return await within(ms, caller, async signal => {
      const response = await fetch(url, { ...init, headers, signal });
      // Only an answer that has arrived whole is one: its connection may break in the middle.
      const body = await response.clone().text();
      return resultOf(response, body, options);
    });
  } catch (cause) {
    caller?.throwIfAborted();
    return { kind: 'unanswered', cause, mayHaveRun: true, pause: 0 };
  }
}

function resultOf(response: Response, body: string, { replayedHeader }: ResolvedOptions): AttemptResult {
  const { status, headers } = response;
  // A replay is definite whatever its status, a stored 503 for example: every retry would get it again.
  if (headers.get(replayedHeader) === 'true')
    return { kind: 'answered', response, isReplay: true, settles: true, mayHaveRun: true };
  const code = problemCode(response, body);
  const isInFlight = status === 409 && code === IN_FLIGHT;
  if (isInFlight || (status === 409 && headers.has('Retry-After')) || RETRYABLE.includes(status)) {
    const pause = Math.min(retryAfter(response), isInFlight ? LONGEST_IN_FLIGHT : Infinity);
    return { kind: 'unanswered', response, mayHaveRun: !NOT_RUN.includes(status), pause };
  }
  // A gateway may answer 500 for a request that the server behind it has run. If it is the answer of the handler, the
  // next attempt gets it as a replay.
  const mayHaveRun = status >= 500 || RAN_BEFORE.includes(code);
  return {
    kind: 'answered',
    response,
    isReplay: false,
    settles: !mayHaveRun && !KEY_PROBLEMS.includes(code) && isAboutOperation(response),
    mayHaveRun,
  };
}

/**
 * Returns false for an answer that may be about something else than the operation. A redirect may lead to the login
 * page of a session that has expired; one that a browser does not follow has the status 0.
 */
function isAboutOperation({ status, redirected }: Response): boolean {
  const isClass = (first: number): boolean => Math.floor(status / 100) === first;
  return !redirected && (isClass(2) || isClass(4)) && !OTHER_REASONS.includes(status);
}

/**
 * Returns the code of a problem of bindonce, if the client acts on it: the end of its `type` (RFC 9457). Empty for
 * anything else. The server's `problemTypeBase` may end with any character, so none is expected in front of the code. A
 * type of the application that happens to end like one, such as `urn:shop:api-key-missing`, costs a retry with the same
 * key; a code that is not found costs the key, and a second run.
 */
function problemCode({ headers }: Response, body: string): string {
  if (!headers.get('Content-Type')?.toLowerCase().startsWith('application/problem+json')) return '';
  try {
    const { type } = JSON.parse(body) as { type?: unknown };
    return KNOWN_CODES.find(code => typeof type === 'string' && type.endsWith(code)) ?? '';
  } catch {
    return '';
  }
}
