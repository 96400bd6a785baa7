import type { RequestInput } from '../input/request-input';
import type { Slot } from '../plan/slots';
import type { Source } from '../declaration/property';
import type { Found } from '../reading/found';

/** One of SPEC's binding sources. */
export interface ValueSource {
  readonly source: Source;
  /** Reads the values of the properties, as far as the request has them, and puts them in the place of what was found before. */
  read(input: RequestInput, slots: readonly Slot[], found: Found): void;
  /** What is said when a required value is not there. */
  readonly missing: string;
}
