import { isIPv4, isIPv6 } from 'node:net';
import { isExactNumber } from '../../body/content/exact-json';
import { boolean, describe, oneOf } from '../../options/check';
import type { ScalarCodec } from './codec';
import type { ParseResult } from './property-type';
import { counted, ruledType, type Kinds, type RuledType } from './rules';
import { asScalar } from './write-value';

/**
 * The text and JSON forms of a type of one value. A reader accepts the whole input or returns undefined. Without
 * `json`, JSON strings are read like other text.
 */
export type Spelling<T> = Omit<Partial<ScalarCodec>, 'described'> &
  Pick<ScalarCodec, 'described'> & { readonly text: (text: string) => T | undefined };

/** What some types have. All have one shape with it: to read a property of one of many takes several times as long. */
const BLANK = { read: undefined, takesAnyText: undefined, isJoined: undefined };

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
    return { kind: 'scalar', name, json, ...BLANK, ...own, text, write } as const;
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

const GUID = /^(?:[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** A GUID, with or without dashes, braces or parentheses; as lower-case text with dashes. */
export const guid: RuledType<string> = scalar('guid', {
  described: 'a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  text(text) {
    // As most clients write it.
    if (text.length === 36 && GUID.test(text)) return text;
    const lower = text.trim().toLowerCase();
    const bare = /^(?:\{.*\}|\(.*\))$/.test(lower) ? lower.slice(1, -1) : lower;
    if (!GUID.test(bare)) return undefined;
    return bare.length === 36 ? bare : bare.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  },
  schema: { type: 'string', format: 'uuid' },
});

/**
 * An absolute URL (WHATWG) whose scheme is http or https: others can run code or read files when a browser or a server
 * follows them. It has at most 8,000 characters (RFC 9110, section 4.1), or 1,000 if it is not all ASCII, because the
 * time to convert a host from Unicode grows with the square of its length.
 */
export const uri: RuledType<URL> = scalar('uri', {
  described: 'a URL that begins with http: or https:',
  text(text) {
    const isShort = text.length <= (/^[ -~]*$/.test(text) ? 8_000 : 1_000);
    const url = isShort && URL.canParse(text) ? new URL(text) : undefined;
    return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : undefined;
  },
  // JSON Schema has no flag for any case.
  schema: { type: 'string', format: 'uri', pattern: '^([hH][tT][tT][pP][sS]?):' },
});

/** Two to four numbers: major, minor, build, revision. */
export class Version {
  constructor(
    readonly major: number,
    readonly minor: number,
    /** Undefined if the version has two numbers. */
    readonly build?: number,
    /** Undefined if the version has two or three numbers. */
    readonly revision?: number,
  ) {}

  /** Reads two to four whole numbers up to 2147483647, with dots between them; blanks around them are ignored. */
  static tryParse(text: string | undefined): ParseResult<Version> {
    const [digits] = /^\d{1,10}(?:\.\d{1,10}){1,3}$/.exec((text ?? '').trim()) ?? [];
    const parts = digits?.split('.').map(Number);
    if (!parts?.every(part => part <= 0x7fff_ffff)) return { success: false };
    return { success: true, value: new Version(...(parts as [number, number])) };
  }

  /** Returns the numbers with dots between them. */
  toString(): string {
    return [this.major, this.minor, this.build, this.revision].filter(part => part !== undefined).join('.');
  }

  /** Returns what `toString()` returns. */
  toJSON(): string {
    return this.toString();
  }
}

/** A version number of two to four dotted parts. */
export const version: RuledType<Version> = scalar('version', {
  described: 'a version of two to four numbers, for example 1.2.3',
  text: text => (Version.tryParse(text) as { readonly value?: Version }).value,
  schema: { type: 'string', pattern: '^[0-9]{1,9}([.][0-9]{1,9}){1,3}$' },
});

type Value = string | number;
type EnumObject = Readonly<Record<string, Value>>;

/**
 * One of a fixed set of values: a member name in any case, or a defined value.
 * @param members a TypeScript enum, an object like one, or a list of strings.
 * @throws TypeError for anything else.
 */
export function enumOf<const E extends EnumObject | readonly string[]>(
  members: E,
): RuledType<E extends readonly (infer V)[] ? V : E[keyof E]> {
  const isList = Array.isArray(members);
  const isMember = (value: unknown): boolean => typeof value === 'string' || (typeof value === 'number' && !isList);
  const given = typeof members === 'object' ? Object.entries<Value>(Object(members) as EnumObject) : [];
  if (given.length === 0 || !given.every(([, value]) => isMember(value)))
    throw new TypeError(
      "enumOf takes an enum, or a list of at least one string: enumOf(['draft', 'sent']), " +
        `not ${describe(members)}`,
    );
  // A numeric enum also has its values as keys (`E[1] = 'A'`).
  const entries = given.filter(([name, value]) => (members as EnumObject)[value] !== Number(name));
  const values = entries.map(([, value]) => value);
  const names = isList ? values.map(String) : entries.map(([name]) => name);
  const byName = new Map(names.map((name, at) => [name.toLowerCase(), values[at]]));
  const byValue = new Map(values.map(value => [String(value), value]));
  const find = (text: string): Value | undefined => byValue.get(text) ?? byName.get(text.toLowerCase());
  // A value may begin or end with blanks itself.
  const read = (text: string): Value | undefined => find(text) ?? find(text.trim());
  const list = `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;
  const kinds = [...new Set(values.map(value => typeof value))];
  return scalar(`enum (${list})`, {
    described: `one of ${list}`,
    text: read,
    json(value) {
      // As JSON.parse would read it: 2.50 is 2.5.
      const plain: unknown = isExactNumber(value) ? Number(value.value) : value;
      return typeof plain === 'string' || typeof plain === 'number' ? read(String(plain)) : undefined;
    },
    schema: { type: kinds.length === 1 ? kinds[0] : kinds, enum: values },
  }) as RuledType<E extends readonly (infer V)[] ? V : E[keyof E]>;
}
