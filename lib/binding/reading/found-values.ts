import { isPromise } from '../../basics/awaitable';
import type { Failures } from './failures';
import { INVALID, UNDEFINED, withoutMark } from './location';

type Key = string | number;

/**
 * The values found for the properties of one object. A value that is put under a key later replaces an earlier one. All
 * properties are read, whatever fails, so that every failure is reported.
 */
export class FoundValues<T extends object = object> {
  /** Keys of values that are not on the target: those that could not be read, are undefined, or are not known yet. */
  private unset: Set<Key> | undefined;
  /** The values that are not known yet, and have not been replaced by one that is. */
  private promised: Map<Key, Promise<unknown>[]> | undefined;

  /** @param target the object that the values are set on. */
  constructor(
    readonly target: T,
    private readonly failures: Failures,
  ) {}

  /** Returns true if a value was found, even an invalid one. */
  has(key: Key): boolean {
    return this.values[key] !== undefined || this.unset?.has(key) === true;
  }

  /** Removes a value that was found; a failure to read it remains. */
  clear(key: Key): void {
    this.values[key] = undefined;
    this.unset?.delete(key);
    this.promised?.delete(key);
  }

  /**
   * @param value undefined if none was found, INVALID if it could not be read, which has been reported, UNDEFINED if a
   * schema makes undefined of it, which replaces no value.
   */
  put(key: Key, value: unknown): void {
    if (value === undefined) return;
    if (value === INVALID || value === UNDEFINED) (this.unset ??= new Set()).add(key);
    else if (isPromise(value)) this.promise(key, value);
    else {
      this.promised?.delete(key);
      this.values[key] = value;
    }
  }

  private promise(key: Key, value: Promise<unknown>): void {
    (this.unset ??= new Set()).add(key);
    const promised = (this.promised ??= new Map<Key, Promise<unknown>[]>()).get(key) ?? [];
    this.promised.set(key, [...promised, value]);
    this.failures.later(value, known => {
      const found = withoutMark(known);
      if (found !== undefined && found !== INVALID && this.promised?.get(key)?.includes(value))
        this.values[key] = found;
    });
  }

  private get values(): Record<Key, unknown> {
    return this.target as Record<Key, unknown>;
  }
}
