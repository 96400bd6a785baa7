import BigNumber = require('bignumber.js');
import { isIPv4, isIPv6 } from 'node:net';
import { boolean, oneOf, positiveInteger, type Rule as Allowed } from '../../options/check';
import type { ScalarCodec } from './codec';
import type { Kind, Kinds } from './rules';

/** Rules of `int`, `long`, `double` and `decimal`. A limit is a number, a bigint or its text, and counts exactly. */
export interface NumberRules {
  /** The smallest value. */
  minimum?: Limit;
  /** The largest value. */
  maximum?: Limit;
  /** Values are larger. */
  exclusiveMinimum?: Limit;
  /** Values are smaller. */
  exclusiveMaximum?: Limit;
  /** Values are multiples, by their decimal digits: 0.3 is one of 0.1. */
  multipleOf?: Limit;
}
type Limit = number | bigint | string;

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

const number: Allowed = {
  expects: 'a number, a bigint or the text of a number',
  accepts: value =>
    ['number', 'bigint', 'string'].includes(typeof value) && /^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i.test(String(value)),
};
const exactly = (value: unknown): BigNumber => (BigNumber.isBigNumber(value) ? value : new BigNumber(String(value)));

const order = (one: unknown, other: unknown): number => Number(exactly(one).comparedTo(exactly(other)));

/** Makes a rule that compares numbers. @param isKept tells by the sign of value minus limit. */
const compared = (keyword: string, words: string, isKept: (sign: number) => boolean): Kind => ({
  allowed: number,
  meaning(limit: Limit) {
    const exact = exactly(limit);
    // A double compares itself with a limit that it holds.
    const holds = (value: unknown): boolean =>
      isKept(typeof value === 'number' && typeof limit === 'number' ? value - limit : order(value, exact));
    return { says: `${words} ${exact.toFixed()}`, holds, schema: { [keyword]: exact.toNumber() } };
  },
});

export const numberRules: Kinds<NumberRules> = {
  rules: {
    minimum: compared('minimum', 'be at least', sign => sign >= 0),
    maximum: compared('maximum', 'be at most', sign => sign <= 0),
    exclusiveMinimum: compared('exclusiveMinimum', 'be above', sign => sign > 0),
    exclusiveMaximum: compared('exclusiveMaximum', 'be below', sign => sign < 0),
    multipleOf: {
      allowed: {
        expects: `${number.expects} above zero`,
        accepts: value => number.accepts(value) && exactly(value).gt(0),
      },
      meaning(step: Limit) {
        const exact = exactly(step);
        const holds = (value: unknown): boolean => exactly(value).mod(exact).isZero();
        return { says: `be a multiple of ${exact.toFixed()}`, holds, schema: { multipleOf: exact.toNumber() } };
      },
    },
  },
  compare: order,
};

const count: Allowed = {
  expects: 'a whole number from 0',
  accepts: value => value === 0 || positiveInteger.accepts(value),
};

/** Makes a rule about the number of something. @param words for example `have at least`. */
const counted = (
  keyword: string,
  words: string,
  unit: string,
  isKept: (value: never, limit: number) => boolean,
  allowed = count,
): Kind => ({
  allowed,
  meaning: (limit: number) => ({
    says: `${words} ${limit} ${unit}${limit === 1 ? '' : 's'}`,
    holds: value => isKept(value, limit),
    schema: { [keyword]: limit },
  }),
});

/** Counts code points, as JSON Schema does. */
function codePoints(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) length++;
  return length;
}

/** A text has at most as many code points as UTF-16 units, whose number is known. */
const isNoLonger = (text: string, most: number): boolean => text.length <= most || codePoints(text) <= most;

/** The address of `<input type="email">` (HTML Standard, 4.10.5.1.5), and a host name of labels (RFC 1123, 2.1). */
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const HOSTNAME = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const formats = {
  email: { says: 'be an e-mail address', holds: (text: string) => text.length <= 320 && EMAIL.test(text) },
  hostname: { says: 'be a host name', holds: (text: string) => HOSTNAME.test(text) },
  ipv4: { says: 'be an IPv4 address', holds: isIPv4 },
  ipv6: { says: 'be an IPv6 address', holds: isIPv6 },
};

export const stringRules: Kinds<StringRules> = {
  rules: {
    minLength: counted('minLength', 'have at least', 'character', (text: string, least) => codePoints(text) >= least),
    maxLength: counted('maxLength', 'have at most', 'character', isNoLonger),
    pattern: {
      allowed: {
        expects: 'a regular expression without flags but u, which JSON Schema does not have, or its text',
        accepts: value => (value instanceof RegExp ? /^u?$/.test(value.flags) : typeof value === 'string'),
      },
      meaning(given: RegExp | string) {
        const pattern = typeof given === 'string' ? given : given.source;
        const expression = new RegExp(pattern, 'u');
        const holds = (text: string): boolean => expression.test(text);
        return { says: `match ${String(expression).slice(0, -1)}`, holds, schema: { pattern } };
      },
    },
    format: {
      allowed: oneOf(...Object.keys(formats)),
      meaning: (format: keyof typeof formats) => ({ ...formats[format], schema: { format } }),
    },
    trim: { allowed: boolean, meaning: (isAsked: boolean) => (isAsked ? { reading: trimmed } : {}) },
  },
};

const trimmed = (): Partial<ScalarCodec> => ({
  text: text => text.trim(),
  json: value => (typeof value === 'string' ? value.trim() : undefined),
});

export const listRules: Kinds<ListRules> = {
  rules: {
    minItems: counted('minItems', 'have at least', 'item', (items: unknown[], least) => items.length >= least),
    maxItems: counted('maxItems', 'have at most', 'item', (items: unknown[], most) => items.length <= most),
    uniqueItems: {
      allowed: boolean,
      meaning: (isAsked: boolean) =>
        isAsked ? { says: 'have no two equal items', holds: areUnique, schema: { uniqueItems: true } } : {},
    },
  },
};

/** Compares by what is written, in which members of objects have one order: that of their declaration. */
function areUnique(items: readonly unknown[]): boolean {
  const asText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
  const known = items.filter(item => item !== undefined).map(item => JSON.stringify(item, asText));
  return new Set(known).size === known.length;
}

type File = Express.Multer.File;

export const fileRules: Kinds<FileRules> = {
  rules: {
    // The length of binary data in JSON Schema.
    maxBytes: counted('maxLength', 'have at most', 'byte', ({ size }: File, most) => size <= most, positiveInteger),
    mediaTypes: {
      allowed: {
        expects: "an array of media types, for example ['image/png', 'image/*']",
        accepts: value =>
          Array.isArray(value) &&
          value.length > 0 &&
          value.every(one => typeof one === 'string' && /^[\w.+-]+\/(?:\*|[\w.+-]+)$/.test(one)),
      },
      meaning(types: readonly string[]) {
        const wanted = types.map(type => type.toLowerCase().replace(/\*$/, ''));
        return {
          says: `be of the media type ${types.join(' or ')}`,
          holds({ mimetype }: File) {
            const type = mimetype.toLowerCase();
            return wanted.some(one => (one.endsWith('/') ? type.startsWith(one) : type === one));
          },
          ...(types.length === 1 && { schema: { contentMediaType: types[0] } }),
        };
      },
    },
  },
};

export const boolRules: Kinds<BoolRules> = {
  rules: { checkbox: { allowed: boolean, meaning: (isAsked: boolean) => (isAsked ? { reading: asCheckbox } : {}) } },
};

/** Reads several values as one, in which a checkbox and the hidden field beside it are separated by commas. */
const asCheckbox = ({ text = () => undefined }: ScalarCodec): Partial<ScalarCodec> => ({
  ...{ isJoined: true, whenMissing: false },
  text(sent) {
    const values = sent.split(',').map(one => (one.trim().toLowerCase() === 'on' ? true : text(one)));
    return values.includes(undefined) ? undefined : values.includes(true);
  },
});

/** Makes the rules of a type of dates. @param read makes a value of a limit, which is compared with others. */
export function dateRules(
  expects: string,
  read: (limit: Date | string) => Date | string | undefined,
): Kinds<DateRules> {
  const edgeOf = (limit: Date | string): Date | string => read(limit) ?? '';
  const kind = (word: string, isKept: (value: Date | string, edge: Date | string) => boolean): Kind => ({
    allowed: {
      expects,
      accepts: value => (typeof value === 'string' || value instanceof Date) && read(value) !== undefined,
    },
    meaning(limit: Date | string) {
      const [edge, shown] = [edgeOf(limit), typeof limit === 'string' ? limit : limit.toISOString()];
      // JSON Schema has no keyword for the limits of dates.
      const schema = { description: `Not ${word} ${shown}.` };
      return { says: `not be ${word} ${shown}`, holds: value => isKept(value, edge), schema };
    },
  });
  return {
    rules: {
      minimum: kind('before', (value, edge) => value >= edge),
      maximum: kind('after', (value, edge) => value <= edge),
    },
    compare: (low: Date | string, high: Date | string) => (edgeOf(low) > edgeOf(high) ? 1 : -1),
  };
}
