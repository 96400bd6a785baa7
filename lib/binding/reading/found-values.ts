import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { INVALID, UNDEFINED, withoutMark, type Invalid } from './location';

type Key = string | number;

/**
 * The values found for the properties of one dto. A value that is put under a key later replaces an earlier one. All
 * properties are read, whatever fails, so that every failure is reported.
 */
export class FoundValues<T extends object = object> {
  private isInvalid = false;
  /** The values that are not on the target: those that could not be read, are undefined, or are not known yet. */
  private unset: Map<Key, unknown> | undefined;
  private promised: [key: Key, value: Awaitable<unknown>][] | undefined;

  /** @param target the object that the values are set on. */
  constructor(readonly target: T) {}

  /** Returns true if a value was found, even an invalid one. */
  has(key: Key): boolean {
    return this.values[key] !== undefined || this.unset?.has(key) === true;
  }

  /** Removes a value that was found; a failure to read it remains. */
  clear(key: Key): void {
    this.values[key] = undefined;
    this.unset?.delete(key);
  }

  /**
   * @param value undefined if none was found, INVALID if it could not be read, which has been reported, UNDEFINED if a
   * schema makes undefined of it, which replaces no value.
   */
  put(key: Key, value: unknown): void {
    if (value === undefined) return;
    if (value === INVALID) {
      this.isInvalid = true;
      (this.unset ??= new Map()).set(key, value);
    } else if (isPromise(value)) this.promise(key, value);
    else if (value === UNDEFINED) {
      if (!this.has(key)) (this.unset ??= new Map()).set(key, value);
    } else {
      this.values[key] = value;
      this.unset?.delete(key);
    }
  }

  /**
   * Returns the target once all values are known. Waits for replaced values, too, because their failures belong in the
   * response.
   * @param finish called with the target before it is returned.
   */
  settled(finish?: (target: T) => void): Awaitable<T | Invalid> {
    const { promised, target } = this;
    if (!promised) {
      if (this.isInvalid) return INVALID;
      finish?.(target);
      return target;
    }
    return after(Promise.all(promised.map(([, value]) => value)), known => {
      if (this.isInvalid || known.includes(INVALID)) return INVALID;
      for (const [at, [key, value]] of promised.entries()) {
        const isLatest = this.unset?.get(key) === value;
        const found = withoutMark(known[at]);
        if (isLatest && found !== undefined) this.values[key] = found;
      }
      finish?.(target);
      return target;
    });
  }

  /** Notes a promised value. It may turn out to be undefined, which does not replace an earlier value. */
  private promise(key: Key, value: Promise<unknown>): void {
    const before = this.unset?.get(key);
    const latest =
      before === undefined ? value : after(value, known => (withoutMark(known) === undefined ? before : known));
    (this.unset ??= new Map()).set(key, latest);
    (this.promised ??= []).push([key, latest]);
  }

  private get values(): Record<Key, unknown> {
    return this.target as Record<Key, unknown>;
  }
}
