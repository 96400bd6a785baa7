import { isIPv4, isIPv6 } from 'node:net';
import { oneOf, positiveInteger, type Rule as Allowed } from '../../options/check';
import { INVALID } from '../reading/location';
import type { Rule, ScalarCodec } from './codec';
import type { Kind, Kinds } from './rules';

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

/** Rules of `list(…)`. */
export interface ListRules {
  /** Fewest items. */
  minItems?: number;
  /** Most items. */
  maxItems?: number;
  /** Whether no two items may be equal, by their JSON. */
  uniqueItems?: boolean;
}

/** Rules of `file`. */
export interface FileRules {
  /** Most bytes. */
  maxBytes?: number;
  /** Media types, as the client names them: `image/png`, or `image/*` for all of a kind. */
  mediaTypes?: readonly string[];
}

/** Rules of `dateTime` and `date`. */
export interface DateRules {
  /** The earliest value: a Date, or the text of one. */
  minimum?: Date | string;
  /** The latest value: a Date, or the text of one. */
  maximum?: Date | string;
}

/** Rules of `bool`. */
export interface BoolRules {
  /**
   * True for the checkbox of an HTML form: `on` is true, of several values (a hidden field beside it) one `on` or
   * `true` decides, and nothing sent is false. Default false.
   */
  checkbox?: boolean;
}

const count: Allowed = {
  expects: 'a whole number from 0',
  accepts: value => value === 0 || positiveInteger.accepts(value),
};
const counted = (many: number, what: string): string => `${many} ${what}${many === 1 ? '' : 's'}`;
const compare = (low: number, high: number): number => low - high;

/** Counts code points, as JSON Schema does: a text has at most as many as UTF-16 units. */
function codePoints(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) length++;
  return length;
}

/** The address of `<input type="email">` (HTML Standard, 4.10.5.1.5), and a host name of labels (RFC 1123, 2.1). */
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const HOSTNAME = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const formats: Readonly<Record<NonNullable<StringRules['format']>, Rule>> = {
  email: { says: 'be an e-mail address', holds: (text: string) => text.length <= 320 && EMAIL.test(text) },
  hostname: { says: 'be a host name', holds: (text: string) => HOSTNAME.test(text) },
  ipv4: { says: 'be an IPv4 address', holds: isIPv4 },
  ipv6: { says: 'be an IPv6 address', holds: isIPv6 },
};

export const stringRules: Kinds<StringRules> = {
  rules: {
    minLength: {
      allowed: count,
      meaning: (least: number) => ({
        rule: {
          says: `have at least ${counted(least, 'character')}`,
          holds: (text: string) => codePoints(text) >= least,
        },
        schema: { minLength: least },
      }),
    },
    maxLength: {
      allowed: count,
      meaning: (most: number) => ({
        rule: {
          says: `have at most ${counted(most, 'character')}`,
          holds: (text: string) => text.length <= most || codePoints(text) <= most,
        },
        schema: { maxLength: most },
      }),
    },
    pattern: {
      allowed: {
        expects: 'a regular expression without flags but u, which JSON Schema does not have, or its text',
        accepts: value => (value instanceof RegExp ? /^u?$/.test(value.flags) : typeof value === 'string'),
      },
      meaning(pattern: RegExp | string) {
        const source = typeof pattern === 'string' ? pattern : pattern.source;
        const expression = new RegExp(source, 'u');
        return {
          rule: { says: `match ${String(expression).slice(0, -1)}`, holds: (text: string) => expression.test(text) },
          schema: { pattern: source },
        };
      },
    },
    format: {
      allowed: oneOf('email', 'hostname', 'ipv4', 'ipv6'),
      meaning: (format: keyof typeof formats) => ({ rule: formats[format], schema: { format } }),
    },
    trim: {
      allowed: oneOf(true, false),
      meaning: (trims: boolean) => ({
        reading: trims
          ? () => ({
              text: (text: string) => text.trim(),
              json: (value: unknown) => (typeof value === 'string' ? value.trim() : undefined),
            })
          : undefined,
      }),
    },
  },
  pairs: [['minLength', 'maxLength']],
  compare,
};

export const listRules: Kinds<ListRules> = {
  rules: {
    minItems: {
      allowed: count,
      meaning: (least: number) => ({
        rule: { says: `have at least ${counted(least, 'item')}`, holds: (items: unknown[]) => items.length >= least },
        schema: { minItems: least },
      }),
    },
    maxItems: {
      allowed: count,
      meaning: (most: number) => ({
        rule: { says: `have at most ${counted(most, 'item')}`, holds: (items: unknown[]) => items.length <= most },
        schema: { maxItems: most },
      }),
    },
    uniqueItems: {
      allowed: oneOf(true, false),
      meaning: (isAsked: boolean) =>
        isAsked ? { rule: { says: 'have no two equal items', holds: areUnique }, schema: { uniqueItems: true } } : {},
    },
  },
  pairs: [['minItems', 'maxItems']],
  compare,
};

/** Compares by what is written, in which members of objects have one order: that of their declaration. */
function areUnique(items: readonly unknown[]): boolean {
  const known = items.filter(item => item !== INVALID).map(item => JSON.stringify(item, bigintAsText));
  return new Set(known).size === known.length;
}

const bigintAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);

export const fileRules: Kinds<FileRules> = {
  rules: {
    maxBytes: {
      allowed: positiveInteger,
      meaning: (most: number) => ({
        rule: {
          says: `have at most ${counted(most, 'byte')}`,
          holds: ({ size }: Express.Multer.File) => size <= most,
        },
        schema: { maxLength: most },
      }),
    },
    mediaTypes: {
      allowed: {
        expects: "an array of media types, for example ['image/png', 'image/*']",
        accepts: value =>
          Array.isArray(value) &&
          value.length > 0 &&
          value.every(one => typeof one === 'string' && /^[\w.+-]+\/(?:\*|[\w.+-]+)$/.test(one)),
      },
      meaning(types: readonly string[]) {
        const wanted = types.map(type => type.toLowerCase());
        return {
          rule: {
            says: `be of the media type ${types.join(' or ')}`,
            holds: ({ mimetype }: Express.Multer.File) => {
              const type = mimetype.toLowerCase();
              return wanted.some(one => (one.endsWith('/*') ? type.startsWith(one.slice(0, -1)) : type === one));
            },
          },
          schema: types.length === 1 ? { contentMediaType: types[0] } : undefined,
        };
      },
    },
  },
};

export const boolRules: Kinds<BoolRules> = {
  rules: {
    checkbox: {
      allowed: oneOf(true, false),
      meaning: (isCheckbox: boolean) => ({ reading: isCheckbox ? asCheckbox : undefined }),
    },
  },
};

/** Reads several values as one, in which a checkbox and the hidden field beside it are separated by commas. */
function asCheckbox({ text = () => undefined }: ScalarCodec): Partial<ScalarCodec> {
  return {
    isJoined: true,
    whenMissing: false,
    text(sent) {
      const values = sent.split(',').map(one => (one.trim().toLowerCase() === 'on' ? true : text(one)));
      return values.includes(undefined) ? undefined : values.includes(true);
    },
  };
}

/** Makes the rules of a type of dates. @param read reads a limit. @param order turns a value into what is compared. */
export function dateRules(
  expects: string,
  read: (limit: Date | string) => number | string | undefined,
  order: (value: never) => number | string,
): Kinds<DateRules> {
  const allowed: Allowed = {
    expects,
    accepts: value => (typeof value === 'string' || value instanceof Date) && read(value) !== undefined,
  };
  const shown = (limit: Date | string): string => (typeof limit === 'string' ? limit : limit.toISOString());
  const kind = (word: string, isKept: (value: number | string, limit: number | string) => boolean): Kind => ({
    allowed,
    meaning: (limit: Date | string) => ({
      rule: { says: `not be ${word} ${shown(limit)}`, holds: value => isKept(order(value), read(limit) ?? '') },
      // JSON Schema has no keyword for the limits of dates.
      schema: { description: `Not ${word} ${shown(limit)}.` },
    }),
  });
  return {
    rules: {
      minimum: kind('before', (value, limit) => value >= limit),
      maximum: kind('after', (value, limit) => value <= limit),
    },
    pairs: [['minimum', 'maximum']],
    compare: (low: Date | string, high: Date | string) => ((read(low) ?? '') > (read(high) ?? '') ? 1 : -1),
  };
}
