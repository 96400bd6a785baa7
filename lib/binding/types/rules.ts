import BigNumber = require('bignumber.js');
import { isIPv4, isIPv6 } from 'node:net';
import { isPromise } from '../../basics/awaitable';
import { boolean, checkOptions, describe, fn, oneOf, positiveInteger, type Rule as Allowed } from '../../options/check';
import { withDefaults } from '../../options/merge';
import { INVALID, type Location } from '../reading/location';
import type { FileCodec, JsonSchema, ListCodec, Rule, ScalarCodec } from './codec';
import type { Codecs, ValueType } from './property-type';

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

/** A rule of the application: true, or what is wrong with the value. */
type Check<T> = (value: T) => true | string | Promise<true | string>;

/** What every type of bindonce has. */
export interface CommonRules<T> {
  /**
   * Called with each value that keeps the other rules. Returns true, or a text that says what is wrong, or a promise
   * of one. What it throws is an error of the application.
   */
  check?: Check<T>;
}

/** A type whose values can have rules. */
export interface RuledType<T, R extends object = object> extends ValueType<T> {
  /**
   * Returns the same type with rules, which hold in every source and stand in the API description. Of one limit that is
   * set twice the later counts; checks add up.
   * @throws TypeError for a rule that the type does not have, a wrong limit, or limits that contradict each other.
   */
  with(rules: R & CommonRules<T>): RuledType<T, R>;
}

type RuledCodec = ScalarCodec | ListCodec | FileCodec;

/** What a limit means: a condition, keywords in JSON Schema, and what it changes in how values are read. */
interface Meaning extends Partial<Rule> {
  readonly schema?: JsonSchema;
  readonly reading?: (codec: ScalarCodec) => Partial<ScalarCodec>;
  /** Compared with that of another rule: no lower limit is above an upper one. */
  readonly edge?: BigNumber | Date | number | string;
}

/** The rules that a type may have: the limits that each takes, and what one of them means. */
export type Kinds<R> = {
  readonly [Name in keyof R]-?: { readonly allowed: Allowed; readonly meaning: (limit: never) => Meaning };
};

/** Makes a type whose values can have rules. @param name names the type in errors. */
export function ruledType<T, R extends object>(
  name: string,
  kinds: Kinds<R>,
  codecFor: (codecs: Codecs) => RuledCodec,
  limits: Readonly<Record<string, unknown>> = {},
  checks: readonly Check<never>[] = [],
): RuledType<T, R> {
  const known = Object.entries<Kinds<R>[keyof R]>(kinds);
  const meanings = known.flatMap(([rule, { meaning }]): (readonly [string, Meaning])[] =>
    limits[rule] === undefined ? [] : [[rule, meaning(limits[rule] as never)]],
  );
  refuseContradictions(name, limits, meanings);
  return {
    codec: codecs => withRules(codecFor(codecs), meanings, checks),
    with(given) {
      const allowed = Object.fromEntries(known.map(([rule, kind]) => [rule, kind.allowed]));
      checkOptions(`${name}.with`, given, { ...allowed, check: fn });
      const { check, ...more } = given as CommonRules<never>;
      const all = withDefaults(limits, more);
      return ruledType<T, R>(name, kinds, codecFor, all, check ? [...checks, check] : checks);
    },
  };
}

type Named = readonly (readonly [rule: string, Meaning])[];

/** Every lower limit is compared with every upper one; of two that are no values themselves, none may be in between. */
function refuseContradictions(name: string, limits: Readonly<Record<string, unknown>>, meanings: Named): void {
  for (const [low, { edge: least }] of meanings.filter(([rule]) => /^min|Minimum/.test(rule)))
    for (const [high, { edge: most }] of meanings.filter(([rule]) => /^max|Maximum/.test(rule))) {
      const sign = order(least, most);
      if (sign > 0 || (sign === 0 && /exclusive/.test(low + high))) {
        const both = `${low} ${describe(limits[low])} and ${high} ${describe(limits[high])}`;
        throw new TypeError(`${name}.with: no value has both ${both}`);
      }
    }
}

function withRules(plain: RuledCodec, meanings: Named, checks: readonly Check<never>[]): RuledCodec {
  if (meanings.length === 0 && checks.length === 0) return plain;
  const rules = meanings.flatMap(([, { holds, says }]) => (holds && says !== undefined ? [{ holds, says }] : []));
  const keywords: Record<string, unknown> = {};
  for (const [, { schema = {} }] of meanings)
    for (const [keyword, value] of Object.entries(schema))
      // Two limits that JSON Schema has no keywords for are two sentences.
      keywords[keyword] = keyword in keywords ? `${String(keywords[keyword])} ${String(value)}` : value;
  const ruled = { ...plain, rules, checks, keywords };
  if (ruled.kind !== 'scalar') return ruled;
  return meanings.reduce<ScalarCodec>((codec, [, { reading }]) => ({ ...codec, ...reading?.(codec) }), {
    ...ruled,
    schema: { ...ruled.schema, ...keywords },
  });
}

/**
 * Checks the rules on a value that was read, and reports each that it breaks; then asks the checks of the application.
 * @returns the value; INVALID if it breaks a rule; a promise for what is not known yet.
 */
export function keepsRules(codec: RuledCodec, value: unknown, at: Location): unknown {
  if (!codec.rules || value === INVALID) return value;
  const items = codec.kind === 'list' ? (value as unknown[]) : [];
  // Items whose schema or check is asynchronous are set when they are known.
  return items.some(isPromise) ? Promise.all(items).then(() => keepsAll(codec, items, at)) : keepsAll(codec, value, at);
}

function keepsAll({ kind, rules = [], checks = [] }: RuledCodec, value: unknown, at: Location): unknown {
  const broken = rules.filter(({ holds }) => !holds(value as never));
  for (const { says } of broken) at.failRule(kind === 'scalar' ? 'value' : kind, value, says);
  if (broken.length > 0) return INVALID;
  // Items that are invalid have been reported.
  if (kind === 'list' && at.isInvalid) return value;
  const answers = checks.map((check): unknown => check(value as never));
  return answers.some(isPromise)
    ? Promise.all(answers).then(known => accepted(known, value, at))
    : accepted(answers, value, at);
}

function accepted(answers: readonly unknown[], value: unknown, at: Location): unknown {
  const broken = answers.filter(answer => answer !== true);
  for (const says of broken) {
    if (typeof says !== 'string')
      throw new TypeError(
        `A check of a type must return true or a text that says what is wrong, not ${describe(says)}`,
      );
    at.fail('rule', says);
  }
  return broken.length > 0 ? INVALID : value;
}

const exactly = (value: unknown): BigNumber => (BigNumber.isBigNumber(value) ? value : new BigNumber(String(value)));

/** Returns a number above zero if the first value is larger. */
function order(one: Meaning['edge'], other: Meaning['edge']): number {
  if (one === undefined || other === undefined) return -1;
  if (BigNumber.isBigNumber(one)) return Number(one.comparedTo(exactly(other)));
  return one > other ? 1 : one < other ? -1 : 0;
}

const number: Allowed = {
  expects: 'a number, a bigint or the text of a number',
  accepts: value =>
    ['number', 'bigint', 'string'].includes(typeof value) && /^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i.test(String(value)),
};
const aboveZero: Allowed = {
  expects: `${number.expects} above zero`,
  accepts: value => number.accepts(value) && exactly(value).gt(0),
};

/** Makes a rule that compares numbers. @param isKept tells by the sign of value minus limit. */
const compared = (
  keyword: string,
  words: string,
  isKept: (sign: number) => boolean,
): Kinds<NumberRules>['minimum'] => ({
  allowed: number,
  meaning(limit: Limit) {
    const edge = exactly(limit);
    // A double compares itself with a limit that it holds.
    const signOf = (value: unknown): number =>
      typeof value === 'number' && typeof limit === 'number' ? value - limit : order(exactly(value), edge);
    const schema = { [keyword]: edge.toNumber() };
    return { edge, says: `${words} ${edge.toFixed()}`, holds: value => isKept(signOf(value)), schema };
  },
});

export const numberRules: Kinds<NumberRules> = {
  minimum: compared('minimum', 'be at least', sign => sign >= 0),
  maximum: compared('maximum', 'be at most', sign => sign <= 0),
  exclusiveMinimum: compared('exclusiveMinimum', 'be above', sign => sign > 0),
  exclusiveMaximum: compared('exclusiveMaximum', 'be below', sign => sign < 0),
  multipleOf: {
    allowed: aboveZero,
    meaning(limit: Limit) {
      const step = exactly(limit);
      const holds = (value: unknown): boolean => exactly(value).mod(step).isZero();
      return { says: `be a multiple of ${step.toFixed()}`, holds, schema: { multipleOf: step.toNumber() } };
    },
  },
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
): Kinds<ListRules>['minItems'] => ({
  allowed,
  meaning: (limit: number) => ({
    ...{ edge: limit, says: `${words} ${limit} ${unit}${limit === 1 ? '' : 's'}` },
    ...{ holds: value => isKept(value, limit), schema: { [keyword]: limit } },
  }),
});

/** Makes a rule that is on or off. */
const switched = (meaning: Meaning): Kinds<BoolRules>['checkbox'] => ({
  allowed: boolean,
  meaning: (isAsked: boolean) => (isAsked ? meaning : {}),
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
  trim: switched({
    reading: () => ({
      text: text => text.trim(),
      json: value => (typeof value === 'string' ? value.trim() : undefined),
    }),
  }),
};

export const listRules: Kinds<ListRules> = {
  minItems: counted('minItems', 'have at least', 'item', (items: unknown[], least) => items.length >= least),
  maxItems: counted('maxItems', 'have at most', 'item', (items: unknown[], most) => items.length <= most),
  uniqueItems: switched({ says: 'have no two equal items', holds: areUnique, schema: { uniqueItems: true } }),
};

/** Compares by what is written, in which members of objects have one order: that of their declaration. */
function areUnique(items: readonly unknown[]): boolean {
  const asText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
  const known = items.filter(item => item !== undefined).map(item => JSON.stringify(item, asText));
  return new Set(known).size === known.length;
}

type File = Express.Multer.File;

export const fileRules: Kinds<FileRules> = {
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
    meaning: (types: readonly string[]) => ({
      says: `be of the media type ${types.join(' or ')}`,
      holds({ mimetype }: File) {
        const type = mimetype.toLowerCase();
        const kind = type.replace(/\/.*/, '/*');
        return types.some(one => one.toLowerCase() === type || one.toLowerCase() === kind);
      },
      ...(types.length === 1 && { schema: { contentMediaType: types[0] } }),
    }),
  },
};

export const boolRules: Kinds<BoolRules> = {
  // Several values are read as one, in which a checkbox and the hidden field beside it are separated by commas.
  checkbox: switched({
    reading: ({ text = () => undefined }) => ({
      ...{ isJoined: true, whenMissing: false },
      text(sent) {
        const values = sent.split(',').map(one => (one.trim().toLowerCase() === 'on' ? true : text(one)));
        return values.includes(undefined) ? undefined : values.includes(true);
      },
    }),
  }),
};

/** Makes the rules of a type of dates. @param read makes a value of a limit, which is compared with others. */
export function dateRules(
  expects: string,
  read: (limit: Date | string) => Date | string | undefined,
): Kinds<DateRules> {
  const kind = (word: string, isKept: (sign: number) => boolean): Kinds<DateRules>['minimum'] => ({
    allowed: {
      expects,
      accepts: value => (typeof value === 'string' || value instanceof Date) && read(value) !== undefined,
    },
    meaning(limit: Date | string) {
      const [edge, shown] = [read(limit) ?? '', typeof limit === 'string' ? limit : limit.toISOString()];
      // JSON Schema has no keyword for the limits of dates.
      const schema = { description: `Not ${word} ${shown}.` };
      return { edge, says: `not be ${word} ${shown}`, holds: value => isKept(order(value, edge)), schema };
    },
  });
  return { minimum: kind('before', sign => sign >= 0), maximum: kind('after', sign => sign <= 0) };
}
