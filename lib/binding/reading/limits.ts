import { checkOptions, positiveInteger } from '../../options/check';
import { withDefaults } from '../../options/merge';

/**
 * Limits of one request. Beyond them it is refused: with 413 for bytes, fields and files, with 414 for parameters of a
 * query, and with 400 for items and levels. (`failures` limits the answer.)
 */
export interface BindingLimits {
  /** Bytes of a JSON, text or urlencoded body, or of all fields of a multipart form. Default 1,048,576. */
  bodyBytes?: number;
  /** Fields of a form, or parameters of a query. Default 20,000. */
  fields?: number;
  /** Bytes of one field of a multipart form. Default 1,048,576. */
  fieldBytes?: number;
  /** Bytes of a multipart form with its files. Default 16,777,216 with files in memory, else 104,857,600. */
  formBytes?: number;
  /** Files of a multipart form. Default 100. */
  files?: number;
  /** Bytes of one declared file. Default 10,485,760. */
  fileBytes?: number;
  /** Items of one collection, and the highest index plus one. Default 10,000. */
  items?: number;
  /** Levels of objects and lists inside each other, in JSON and in names. Default 32. */
  depth?: number;
  /** Failures listed in one response. Default 100. */
  failures?: number;
}

export type ResolvedLimits = Readonly<Required<Omit<BindingLimits, 'formBytes'>> & Pick<BindingLimits, 'formBytes'>>;

/** Default of `formBytes`, by where files are kept. */
export const DEFAULT_FORM_BYTES = { memory: 16_777_216, disk: 104_857_600 } as const;

const defaults: ResolvedLimits = {
  bodyBytes: 1_048_576,
  fields: 20_000,
  fieldBytes: 1_048_576,
  files: 100,
  fileBytes: 10_485_760,
  items: 10_000,
  depth: 32,
  failures: 100,
};

const isDepth = (value: unknown): boolean => positiveInteger.accepts(value) && Number(value) <= 500;

export function resolveLimits(given: BindingLimits = {}): ResolvedLimits {
  checkOptions('bindRequest: limits', given, {
    ...Object.fromEntries([...Object.keys(defaults), 'formBytes'].map(name => [name, positiveInteger])),
    // Each level takes stack space.
    depth: { expects: 'a whole number from 1 to 500', accepts: isDepth },
  });
  return withDefaults(defaults, given);
}
