import { after, type Awaitable } from './awaitable';
import { ownValue } from './own-value';
import { INVALID, type Invalid } from './place';

/** A dto, of which the properties can be set by their names. */
export type Filled<T> = T & Record<string, unknown>;

/** A dto that is filled, value after value. All of it is read, whatever fails, so that every failure is noted. */
export class Filling<T = unknown> {
  /** What was put last for a property, where that is no value, or none yet. */
  private unsettled: Map<string, unknown> | undefined;
  private promised: [property: string, value: Promise<unknown>][] | undefined;

  constructor(readonly dto: Filled<T>) {}

  /**
   * Sets a property; the last value stands.
   * @param value undefined where nothing was found; invalid where it could not be read, which has been noted.
   */
  put(property: string, value: unknown): void {
    if (value === undefined) return;
    this.unsettled?.delete(property);
    if (value instanceof Promise) (this.promised ??= []).push([property, value]);
    if (value === INVALID || value instanceof Promise) (this.unsettled ??= new Map()).set(property, value);
    else (this.dto as Record<string, unknown>)[property] = value;
  }

  /** True when something was put for the property, or the dto has brought a value with it. */
  has(property: string): boolean {
    return ownValue(this.dto, property) !== undefined || this.unsettled?.has(property) === true;
  }

  /** The dto when all of its values are there; all of them are waited for, the overwritten too: their failures belong into the answer. */
  result(): Awaitable<T | Invalid> {
    const { dto, promised, unsettled } = this;
    if (!unsettled) return dto;
    return after(promised ? Promise.all(promised.map(([, value]) => value)) : [], known => {
      promised?.forEach(([property, value], index) => {
        if (unsettled.get(property) !== value) return;
        unsettled.delete(property);
        this.put(property, known[index]);
      });
      return unsettled.size === 0 ? dto : INVALID;
    });
  }
}
