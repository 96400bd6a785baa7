import type { JsonSchema, ScalarCodec } from './codec';
import { boolRules, fileRules, stringRules, type BoolRules, type FileRules, type StringRules } from './rules';
import { ruledType, type Kinds, type RuledType } from './rules';

/** The text and JSON forms of a type of one value. A reader accepts the whole input or returns undefined. */
export interface Spelling<T> extends Omit<ScalarCodec, 'kind' | 'name'> {
  readonly text: (text: string) => T | undefined;
  /** Reads a JSON value. Default: JSON strings are read like other text. */
  readonly json?: (value: unknown) => T | undefined;
  readonly schema: JsonSchema;
  readonly described: string;
}

/** Makes a type of one value. @param kinds the rules that it may have, besides checks of the application. */
export function scalar<T, R extends object = object>(
  name: string,
  spelling: Spelling<T>,
  kinds = {} as Kinds<R>,
): RuledType<T, R> {
  const json = (value: unknown): T | undefined => (typeof value === 'string' ? spelling.text(value) : undefined);
  const codec: ScalarCodec = { kind: 'scalar', name, json, ...spelling };
  return ruledType(name, kinds, () => codec);
}

/** Any text. Repeated values are joined, as a repeated header is (RFC 9110, section 5.3). */
export const string: RuledType<string, StringRules> = scalar(
  'string',
  {
    described: 'a string',
    takesAnyText: true,
    isJoined: true,
    text: text => text,
    json: value => (typeof value === 'string' ? value : undefined),
    schema: { type: 'string' },
  },
  stringRules,
);

/** `true` or `false` in any case; nothing else. */
export const bool: RuledType<boolean, BoolRules> = scalar(
  'bool',
  {
    described: 'true or false',
    text(text) {
      const word = text.trim().toLowerCase();
      return word === 'true' || word === 'false' ? word === 'true' : undefined;
    },
    json: value => (typeof value === 'boolean' ? value : undefined),
    schema: { type: 'boolean' },
  },
  boolRules,
);

/** An uploaded file, as multer describes it: in memory with `buffer`, on disk with `path`. */
export type UploadedFile = Express.Multer.File;

/** One uploaded file of a multipart form; `list(file)` for several. */
export const file: RuledType<UploadedFile, FileRules> = ruledType(
  'file',
  fileRules,
  () => ({ kind: 'file', name: 'file' }) as const,
);
