// A client that retries until the answer is definite, and pays once. Needs nothing but fetch.
import { setTimeout as pause } from 'node:timers/promises';

/** The server, or a proxy on the way, could not say what became of the request, or asks to come again. */
const COME_AGAIN = [408, 425, 429, 502, 503, 504];

/**
 * fetch() with one Idempotency-Key for all tries. Whether a request has run that was not answered cannot be known; with
 * the same key it is safe to send it again. `body` must be something that can be sent twice: text, bytes or a form, but
 * not a stream.
 *
 * @param {string} key of what is to be done; keep it where it outlives the process, to go on after a crash
 * @param {number} tries at most
 * @param {number} tryTimeout milliseconds for each try; the server's `waitTimeout` (10 s) at least
 * @param {number} longestPause milliseconds; if the server asks for more, its answer is returned
 * @returns the definite answer, or the last one
 */
export async function fetchWithRetries(url, options) {
  const { key = crypto.randomUUID(), tries = 6, tryTimeout = 15_000, longestPause = 60_000, ...init } = options;
  const headers = new Headers(init.headers);
  headers.set('Idempotency-Key', key);

  for (let tried = 1; ; tried++) {
    let response;
    try {
      response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(tryTimeout) });
    } catch (error) {
      // No connection, a broken one, or none of it in time.
      if (tried === tries) throw error;
    }
    if (response && (isDefinite(response) || tried === tries)) return response;
    const ms = Math.max(backoff(tried), response ? retryAfter(response) : 0);
    if (response && ms > longestPause) return response;
    await response?.body?.cancel();
    await pause(ms);
  }
}

/** What a retry with the same key cannot change. 500 is definite: the handler has run, and its response is stored. */
function isDefinite({ status, headers }) {
  if (headers.get('Idempotent-Replayed') === 'true') return true;
  // 409 with Retry-After: an earlier try is still running. Without: it has run, but its response could not be kept.
  return status === 409 ? !headers.has('Retry-After') : !COME_AGAIN.includes(status);
}

/** Twice as long each time, and random, so that clients that failed together do not come back together. */
const backoff = tried => Math.random() * Math.min(200 * 2 ** tried, 10_000);

/** Milliseconds; the header has seconds or a date. */
function retryAfter({ headers }) {
  const text = headers.get('Retry-After') ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return ms > 0 ? ms : 0;
}
