import { isIPv4, isIPv6 } from 'node:net';
import { boolean, oneOf, positiveInteger } from '../../options/check';
import type { ScalarCodec } from './codec';
import { asScalar } from './write-value';
import { counted, ruledType, type Kinds, type RuledType } from './rules';

/**
 * The text and JSON forms of a type of one value. A reader accepts the whole input or returns undefined. Without
 * `json`, JSON strings are read like other text.
 */
interface Spelling<T> extends Partial<ScalarCodec> {
  readonly text: (text: string) => T | undefined;
}

/**
 * Makes a type of one value.
 * @param kinds the rules that it may have, besides checks of the application.
 * @param ruled what is different under some rules.
 */
export function scalar<T, R extends object = object>(
  name: string,
  spelling: Spelling<T>,
  kinds = {} as Kinds<R>,
  ruled?: (rules: R) => Partial<Spelling<T>>,
): RuledType<T, R> {
  const write = (value: unknown): unknown => asScalar(spelling.write ? spelling.write(value) : value, name);
  return ruledType(name, kinds, (_codecs, rules) => {
    const { text, ...own } = { ...spelling, ...ruled?.(rules) };
    const json = (value: unknown): unknown => (typeof value === 'string' ? text(value) : undefined);
    return { kind: 'scalar', name, json, ...own, text, write } as const;
  });
}

/** Rules of `string`. */
export interface StringRules {
  /** Fewest characters (code points). */
  minLength?: number;
  /** Most characters (code points). */
  maxLength?: number;
  /** A regular expression that is found anywhere in the text, as in JSON Schema: `^…$` is the whole. */
  pattern?: RegExp | string;
  /** An e-mail address (HTML Standard), a host name (RFC 1123), or an address of IPv4 or IPv6. */
  format?: 'email' | 'hostname' | 'ipv4' | 'ipv6';
  /** Removes white space around the text, before everything else. Default false. */
  trim?: boolean;
}

/** Counts code points, as JSON Schema does. */
const codePoints = (text: string): number => text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '.').length;

/** The address of `<input type="email">` (HTML Standard, 4.10.5.1.5), and a host name of labels (RFC 1123, 2.1). */
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const HOSTNAME = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const formats = {
  email: { says: 'be an e-mail address', holds: (text: string) => text.length <= 320 && EMAIL.test(text) },
  hostname: { says: 'be a host name', holds: (text: string) => HOSTNAME.test(text) },
  ipv4: { says: 'be an IPv4 address', holds: isIPv4 },
  ipv6: { says: 'be an IPv6 address', holds: isIPv6 },
};

const stringRules: Kinds<StringRules> = {
  minLength: counted('minLength', 'character', codePoints),
  maxLength: counted('maxLength', 'character', codePoints),
  pattern: {
    expects: 'a regular expression without flags but u, which JSON Schema does not have, or its text',
    accepts: value => (value instanceof RegExp ? /^u?$/.test(value.flags) : typeof value === 'string'),
    meaning(given: RegExp | string) {
      const pattern = typeof given === 'string' ? given : given.source;
      const expression = new RegExp(pattern, 'u');
      const holds = (text: string): boolean => expression.test(text);
      return { says: `match ${String(expression).slice(0, -1)}`, holds, schema: { pattern } };
    },
  },
  format: {
    ...oneOf(...Object.keys(formats)),
    meaning: (format: keyof typeof formats) => ({ ...formats[format], schema: { format } }),
  },
  trim: boolean,
};

/** Any text. Repeated values are joined, as a repeated header is (RFC 9110, section 5.3). */
export const string: RuledType<string, StringRules> = scalar(
  'string',
  {
    described: 'a string',
    takesAnyText: true,
    isJoined: true,
    text: text => text,
    schema: { type: 'string' },
  },
  stringRules,
  ({ trim }) => (trim ? { text: text => text.trim() } : {}),
);

/** Rules of `bool`. */
export interface BoolRules {
  /**
   * True for the checkbox of an HTML form: `on` is true, of several values (a hidden field beside it) one `on` or
   * `true` decides, and nothing sent is false. Default false.
   */
  checkbox?: boolean;
}

function readBool(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : undefined;
}

/** Several values are read as one, in which a checkbox and the hidden field beside it are separated by commas. */
function readCheckbox(text: string): boolean | undefined {
  const values = text.split(',').map(one => (one.trim().toLowerCase() === 'on' ? true : readBool(one)));
  return values.includes(undefined) ? undefined : values.includes(true);
}

/** `true` or `false` in any case; nothing else. */
export const bool = scalar<boolean, BoolRules>(
  'bool',
  {
    described: 'true or false',
    text: readBool,
    json: value => (typeof value === 'boolean' ? value : undefined),
    schema: { type: 'boolean' },
  },
  { checkbox: boolean },
  ({ checkbox }) => (checkbox ? { text: readCheckbox, isJoined: true, whenMissing: false } : {}),
);

/** An uploaded file, as multer describes it: in memory with `buffer`, on disk with `path`. */
export type UploadedFile = Express.Multer.File;

/** Rules of `file`. */
export interface FileRules {
  /** Most bytes. */
  maxBytes?: number;
  /** Media types, as the client names them: `image/png`, or `image/*` for all of a kind. */
  mediaTypes?: readonly string[];
}

const fileRules: Kinds<FileRules> = {
  // The length of binary data in JSON Schema.
  maxBytes: counted('maxLength', 'byte', ({ size }: UploadedFile) => size, positiveInteger),
  mediaTypes: {
    expects: "an array of media types, for example ['image/png', 'image/*']",
    accepts: value =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.every(one => typeof one === 'string' && /^[\w.+-]+\/(?:\*|[\w.+-]+)$/.test(one)),
    meaning(types: readonly string[]) {
      const names = new Set(types.map(one => one.toLowerCase()));
      const isNamed = (type: string): boolean => names.has(type) || names.has(type.replace(/\/.*/, '/*'));
      const holds = ({ mimetype }: UploadedFile): boolean => isNamed(mimetype.toLowerCase());
      const schema = types.length === 1 ? { contentMediaType: types[0] } : {};
      return { says: `be of the media type ${types.join(' or ')}`, holds, schema };
    },
  },
};

/** One uploaded file of a multipart form; `list(file)` for several. */
export const file: RuledType<UploadedFile, FileRules> = ruledType(
  'file',
  fileRules,
  () => ({ kind: 'file', name: 'file' }) as const,
);
