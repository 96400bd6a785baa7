import type { RequestInput } from './request-input';
import type { SourceProperty } from '../plan/source-properties';
import type { Source } from '../declaration/property';
import type { RequestValues } from '../reading/request-values';

/** One of SPEC's binding sources. */
export interface ValueSource {
  readonly source: Source;
  /** Reads the values of the properties, as far as the request has them, and puts them in the place of what was found before. */
  read(input: RequestInput, sourceProperties: readonly SourceProperty[], found: RequestValues): void;
  /** What is said when a required value is not there. */
  readonly missing: string;
}
