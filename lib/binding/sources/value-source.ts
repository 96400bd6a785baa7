import type { Source } from '../../problems/problem';
import type { SourceProperty } from '../plan/source-properties';
import type { FoundValues } from '../reading/found-values';
import type { RequestInput } from './request-input';

/** A source of values. */
export interface ValueSource {
  readonly name: Source;
  /** Reads the values that the request has for the properties; they overwrite values found before. */
  read(input: RequestInput, sourceProperties: readonly SourceProperty[], found: FoundValues): void;
  /** Message for a missing required value, if not the usual one. */
  readonly missing?: string;
}
