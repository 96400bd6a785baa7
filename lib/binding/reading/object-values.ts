import { after, type Awaitable } from './awaitable';
import { INVALID, type Invalid } from './location';

/**
 * Fills a dto that is read from one object: each value is set as it is found. All properties are read, whatever fails,
 * so that every failure is reported.
 */
export class ObjectValues<T extends object> {
  private isInvalid = false;
  private promised: [property: string, value: Promise<unknown>][] | undefined;

  /** @param removeUnset removes the properties for which no value was found. */
  constructor(
    readonly target: T,
    private readonly removeUnset?: (target: object) => void,
  ) {}

  /** @param value undefined if none was found, INVALID if it could not be read, which has been reported. */
  put(property: string, value: unknown): void {
    if (value === INVALID) this.isInvalid = true;
    else if (value instanceof Promise) (this.promised ??= []).push([property, value]);
    else if (value !== undefined) (this.target as Record<string, unknown>)[property] = value;
  }

  /** Returns the dto, once all of its values are known. */
  result(): Awaitable<T | Invalid> {
    const { promised, isInvalid } = this;
    if (!promised) return isInvalid ? INVALID : this.filled();
    return after(Promise.all(promised.map(([, value]) => value)), known => {
      for (const [at, [property]] of promised.entries()) this.put(property, known[at]);
      return this.isInvalid ? INVALID : this.filled();
    });
  }

  private filled(): T {
    this.removeUnset?.(this.target);
    return this.target;
  }
}
