import type { RequestInput } from '../input/request-input';
import type { Slot } from '../plan/slots';
import type { Source } from '../declaration/property';

/** Reads the value of one property; undefined where the request has none. */
export type ReadSlot = (slot: Slot) => unknown;

/** One of SPEC's binding sources. */
export interface ValueSource {
  readonly source: Source;
  /** @param slots what will be read. @returns undefined when the request has nothing of this kind at all. */
  open(input: RequestInput, slots: readonly Slot[]): ReadSlot | undefined;
  /** What is said when a required value is not there. */
  readonly missing: string;
}
