/** Milliseconds. No attempt begins so near to the deadline: it could run, and its answer would hardly be seen. */
const SHORTEST_ATTEMPT = 50;

/**
 * The time of one call: its deadline, and the caller's signal. `AbortSignal.any()` and `AbortSignal.timeout()` would do
 * part of it, but Node before 20.3 and browsers before 2024 have no `any`.
 */
export class CallTime {
  private readonly end: number;

  constructor(
    deadline: number,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.end = performance.now() + deadline;
  }

  /** Milliseconds until the deadline; not above zero when it has passed. */
  private get left(): number {
    return this.end - performance.now();
  }

  /** @throws the reason of the caller's signal. */
  throwIfAborted(): void {
    this.signal?.throwIfAborted();
  }

  /**
   * Runs work with a signal that aborts after `ms` milliseconds, at the deadline, or with the caller's signal, and
   * rejects then, whether the work heeds the signal or not.
   */
  async within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const limit = Math.max(0, Math.min(ms, this.left));
    const onAbort = (): void => {
      controller.abort(this.signal?.reason);
    };
    this.signal?.addEventListener('abort', onAbort);
    const timer = setTimeout(() => {
      controller.abort(new DOMException(`It took longer than ${Math.round(limit)} ms`, 'TimeoutError'));
    }, limit);
    try {
      this.throwIfAborted();
      return await Promise.race([work(controller.signal), rejectionBy(controller.signal)]);
    } finally {
      clearTimeout(timer);
      this.signal?.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Waits, unless too little time would be left for an attempt.
   * @returns whether there is enough.
   * @throws the reason of the caller's signal.
   */
  async pause(ms: number): Promise<boolean> {
    if (this.left - ms < SHORTEST_ATTEMPT) return false;
    let onEnd = (): void => undefined;
    const ended = new Promise<void>(resolve => {
      onEnd = resolve;
    });
    const timer = setTimeout(onEnd, ms);
    this.signal?.addEventListener('abort', onEnd);
    if (!this.signal?.aborted) await ended;
    clearTimeout(timer);
    this.signal?.removeEventListener('abort', onEnd);
    this.throwIfAborted();
    // A pause takes longer if the computer sleeps, or the page is busy.
    return this.left >= SHORTEST_ATTEMPT;
  }
}

function rejectionBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}
