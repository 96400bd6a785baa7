/** What came of an attempt. */
export interface Answer {
  /** The answer, which has arrived whole; undefined if there was none. */
  readonly response?: Response;
  /** Why there was none. */
  readonly cause?: unknown;
  /**
   * - `settled`: what became of the operation, whichever attempt has run it.
   * - `not-run`: that this attempt has not run it.
   * - `unknown`: that it may have run, by this attempt or another one, but not how.
   */
  readonly outcome: 'settled' | 'not-run' | 'unknown';
  /** Whether it is the stored answer of an earlier attempt. */
  readonly replayed?: boolean;
  /** Milliseconds after which another attempt may get a definite answer; undefined if it would get no better one. */
  readonly pause?: number;
}

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
/** Problems that say that the operation, or another one with this key, may have run, but not what came of it. */
const RAN_BEFORE = ['response-unavailable', 'outcome-unknown', 'key-reused'];
const IN_FLIGHT = 'request-in-flight';
/** Codes on which the client acts. None is the end of another one. */
const KNOWN_CODES = [IN_FLIGHT, ...KEY_PROBLEMS, ...RAN_BEFORE];

/**
 * Reads an answer.
 * @param body its text, which has arrived whole.
 */
export function answerIn(response: Response, body: string, replayedHeader: string): Answer {
  const { status, redirected, headers } = response;
  // A replay is definite whatever its status, a stored 503 for example: every retry would get it again.
  if (headers.get(replayedHeader) === 'true') return { replayed: true, outcome: 'settled' };
  const code = problemCode(response, body);
  const isInFlight = status === 409 && code === IN_FLIGHT;
  if (isInFlight || (status === 409 && headers.has('Retry-After')) || RETRYABLE.includes(status)) {
    const pause = Math.min(retryAfter(response), isInFlight ? LONGEST_IN_FLIGHT : Infinity);
    return { pause, outcome: NOT_RUN.includes(status) ? 'not-run' : 'unknown' };
  }
  // A gateway may answer 500 for a request that the server behind it has run. If it is the answer of the handler, the
  // next attempt gets it as a replay.
  if (status >= 500 || RAN_BEFORE.includes(code)) return { outcome: 'unknown' };
  // A redirect may lead to the login page of a session that has expired; one that a browser does not follow has the
  // status 0.
  const isAboutOperation = /^[24]/.test(`${status}`) && !redirected && !OTHER_REASONS.includes(status);
  return { outcome: isAboutOperation && !KEY_PROBLEMS.includes(code) ? 'settled' : 'not-run' };
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

/**
 * Returns the milliseconds that the server asks to wait (RFC 9110, section 10.2.3): seconds, or a date. A date is
 * compared with the server's own clock, if its `Date` can be read: another origin has to expose it.
 */
function retryAfter({ headers }: Response): number {
  const value = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const ms = Date.parse(value) - (Date.parse(headers.get('Date') ?? '') || Date.now());
  return ms > 0 ? ms : 0;
}
