import { after, type Awaitable } from './awaitable';
import { INVALID, type Invalid } from './location';

/** A dto that is read from one object: what is found for a property is set at once. All of them are read, whatever fails, so that every failure is noted. */
export class ObjectValues<T extends object> {
  private isInvalid = false;
  private promised: [property: string, value: Promise<unknown>][] | undefined;

  /** @param removeUnset removes what no value was found for. */
  constructor(
    readonly target: T,
    private readonly removeUnset?: (target: object) => void,
  ) {}

  /** @param value undefined where nothing was found; invalid where it could not be read, which has been noted. */
  put(property: string, value: unknown): void {
    if (value === INVALID) this.isInvalid = true;
    else if (value instanceof Promise) (this.promised ??= []).push([property, value]);
    else if (value !== undefined) (this.target as Record<string, unknown>)[property] = value;
  }

  /** The dto when all of its values are there. */
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
