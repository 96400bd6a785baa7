/**
 * Runs work with a signal that aborts after `ms` milliseconds, or with the caller's signal, and rejects then with its
 * reason, whether the work heeds the signal or not.
 */
export function within<T>(
  ms: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(Math.max(0, Math.round(ms)));
  const signal = caller ? AbortSignal.any([limit, caller]) : limit;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    // To the limit, too: Node 20 collects a timeout that only `any` knows, and it never fires.
    for (const one of [signal, limit])
      one.addEventListener('abort', () => {
        reject(one.reason as Error);
      });
    work(signal).then(resolve, reject);
  });
}

/** Where a page hears that it has a network again. Node has no such events. */
const page: Partial<EventTarget> = globalThis;

/**
 * Waits.
 * @param endsOnline whether the wait is over as soon as the page is online again.
 * @throws the reason of the signal when it aborts.
 */
export async function pause(ms: number, signal: AbortSignal | undefined, endsOnline: boolean): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>(resolve => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      page.removeEventListener?.('online', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (endsOnline) page.addEventListener?.('online', end);
  });
  signal?.throwIfAborted();
}

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
  const now = Date.parse(headers.get('Date') ?? '');
  const ms = Date.parse(value) - (Number.isNaN(now) ? Date.now() : now);
  return ms > 0 ? ms : 0;
}
