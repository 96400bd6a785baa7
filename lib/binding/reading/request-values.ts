import { after, type Awaitable } from './awaitable';
import { INVALID, type Invalid } from './location';

/**
 * What the sources of a request have found for the properties of its dto, by their index: only the last value is ever set. All
 * of them are read, whatever fails, so that every failure is noted.
 */
export class RequestValues {
  readonly target: unknown[];
  private isInvalid = false;
  private promised: Promise<unknown>[] | undefined;

  constructor(properties: number) {
    this.target = new Array<unknown>(properties);
  }

  has(index: number): boolean {
    return this.target[index] !== undefined;
  }

  /**
   * Puts a value in the place of one that was found before.
   * @param value undefined where nothing was found; invalid where it could not be read, which has been noted.
   */
  put(index: number, value: unknown): void {
    if (value === undefined) return;
    if (value === INVALID) this.isInvalid = true;
    this.target[index] = value instanceof Promise ? this.promise(value, this.target[index]) : value;
  }

  /** All values when they are there, the overwritten too: their failures belong into the answer. */
  settled(): Awaitable<readonly unknown[] | Invalid> {
    const { target: values, promised, isInvalid } = this;
    if (!promised) return isInvalid ? INVALID : values;
    return after(Promise.all(promised), () =>
      after(Promise.all(values), known => (isInvalid || known.includes(INVALID) ? INVALID : known)),
    );
  }

  /** What is promised may come to nothing, and nothing overwrites nothing. */
  private promise(value: Promise<unknown>, before: unknown): Awaitable<unknown> {
    (this.promised ??= []).push(value);
    return before === undefined ? value : after(value, known => (known === undefined ? before : known));
  }
}
