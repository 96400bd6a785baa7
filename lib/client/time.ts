/**
 * Runs work with a signal that aborts after `ms` milliseconds, or with the caller's signal, and rejects then with its
 * reason, whether the work heeds the signal or not.
 */
export async function within<T>(
  ms: number,
  caller: AbortSignal | null | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(Math.max(0, Math.round(ms)));
  const signal = AbortSignal.any(caller ? [limit, caller] : [limit]);
  signal.throwIfAborted();
  const aborted = new Promise<never>((_resolve, reject) => {
    // To the limit, too: Node 20 collects a timeout that only `any` knows, and it never fires.
    for (const one of [signal, limit]) one.addEventListener('abort', () => reject(one.reason as Error));
  });
  return Promise.race([work(signal), aborted]);
}

/** Where a page hears that it has a network again. Node has no such events. */
const page: Partial<EventTarget> = globalThis;

/**
 * Waits.
 * @param endsOnline whether the wait is over as soon as the page is online again.
 * @throws the reason of the signal when it aborts.
 */
export async function pause(ms: number, signal: AbortSignal | null | undefined, endsOnline: boolean): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>(resolve => {
    const over = new AbortController();
    const end = (): void => {
      clearTimeout(timer);
      over.abort();
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, over);
    if (endsOnline) page.addEventListener?.('online', end, over);
  });
  signal?.throwIfAborted();
}
