import { after, type Awaitable } from './awaitable';
import { INVALID, type Invalid } from './location';

/**
 * The values that the sources of a request have for the properties of its dto, by index. Later sources overwrite
 * earlier ones, and only the last value is set on the dto. All sources are read, whatever fails, so that every failure
 * is reported.
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
   * Replaces a value that was found before.
   * @param value undefined if none was found, INVALID if it could not be read, which has been reported.
   */
  put(index: number, value: unknown): void {
    if (value === undefined) return;
    if (value === INVALID) this.isInvalid = true;
    this.target[index] = value instanceof Promise ? this.promise(value, this.target[index]) : value;
  }

  /**
   * Returns the values, once all are known. Waits for overwritten values, too, because their failures belong in the
   * response.
   */
  settled(): Awaitable<readonly unknown[] | Invalid> {
    const { target: values, promised, isInvalid } = this;
    if (!promised) return isInvalid ? INVALID : values;
    return after(Promise.all(promised), () =>
      after(Promise.all(values), known => (isInvalid || known.includes(INVALID) ? INVALID : known)),
    );
  }

  /** A promise may resolve to undefined; undefined does not overwrite an earlier value. */
  private promise(value: Promise<unknown>, before: unknown): Awaitable<unknown> {
    (this.promised ??= []).push(value);
    return before === undefined ? value : after(value, known => (known === undefined ? before : known));
  }
}
