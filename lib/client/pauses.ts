/**
 * Returns the milliseconds until the next attempt, at random up to a limit that doubles: clients that failed together
 * spread out.
 */
export function backoff(attempt: number, { baseDelay, maxDelay }: { baseDelay: number; maxDelay: number }): number {
  return Math.random() * Math.min(maxDelay, baseDelay * 2 ** (attempt - 1));
}

/**
 * Returns the milliseconds that the server asks to wait (RFC 9110, section 10.2.3): seconds, or a date. A date is
 * compared with the server's own clock, if its `Date` can be read (another origin has to expose it), so that a wrong
 * clock of the client does not matter.
 */
export function retryAfter({ headers }: Response): number {
  const value = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const now = httpDate(headers.get('Date') ?? '');
  const ms = httpDate(value) - (Number.isNaN(now) ? Date.now() : now);
  return ms > 0 ? ms : 0;
}

/** Reads a date in any of the three forms of HTTP (RFC 9110, section 5.6.7). NaN for anything else. */
function httpDate(text: string): number {
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return NaN;
  // The form of asctime(), "Sun Nov  6 08:49:37 1994", names no time zone; it is GMT.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
