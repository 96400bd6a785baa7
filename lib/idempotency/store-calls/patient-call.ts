/**
 * Repeats a call, but not while the last one is unanswered: a client whose server is silent keeps each of them in
 * memory, and this one has a whole response. But a client may also lose an answer, so the call is repeated after a time
 * that doubles each time: in a day, some fifteen times.
 */
export class PatientCall<T> {
  private last: Promise<T> | undefined;
  /** In milliseconds of the monotonic clock. */
  private repeatAt = -Infinity;

  /** @param patience milliseconds until the first repetition. */
  constructor(private patience: number) {}

  /** Makes the call, or returns the last one. */
  make(call: () => T | Promise<T>): T | Promise<T> {
    const now = performance.now();
    if (this.last && now < this.repeatAt) return this.last;
    const answer = call();
    if (!(answer instanceof Promise)) return answer;
    const forget = (): void => {
      if (this.last === answer) this.last = undefined;
    };
    this.repeatAt = now + this.patience;
    this.patience *= 2;
    this.last = answer;
    answer.then(forget, forget);
    return answer;
  }
}
