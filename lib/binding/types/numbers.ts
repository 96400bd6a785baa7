import BigNumber = require('bignumber.js');
import type { Rule as Allowed } from '../../options/check';
import { isExactNumber } from '../../body/content/exact-json';
import { WrittenNumber } from './write-value';
import { asJson } from '../reading/json-text';
import type { Kinds, Row, RuledType } from './rules';
import type { Codec, ScalarCodec } from './codec';
import { scalar, type Spelling } from './scalar';

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

const exactly = (value: unknown): BigNumber =>
  BigNumber.isBigNumber(value) ? value : new BigNumber(value as BigNumber.Value);

const aNumber: Allowed = {
  expects: 'a number, a bigint or the text of a number',
  accepts: value =>
    ['number', 'bigint', 'string'].includes(typeof value) && /^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i.test(String(value)),
};

/** @param isKept tells by the sign of value minus limit. */
const compared = (keyword: string, words: string, isKept: (sign: number) => boolean): Row => ({
  ...aNumber,
  meaning(limit: Limit) {
    const edge = exactly(limit);
    // A double compares itself with a limit that it holds: exactly, that takes ten times as long.
    const signOf = (value: unknown): number =>
      typeof value === 'number' && typeof limit === 'number' ? value - limit : Number(exactly(value).comparedTo(edge));
    const schema = { [keyword]: edge.toNumber() };
    return { edge, says: `${words} ${edge.toFixed()}`, holds: value => isKept(signOf(value)), schema };
  },
});

const numberRules: Kinds<NumberRules> = {
  minimum: compared('minimum', 'be at least', sign => sign >= 0),
  maximum: compared('maximum', 'be at most', sign => sign <= 0),
  exclusiveMinimum: compared('exclusiveMinimum', 'be above', sign => sign > 0),
  exclusiveMaximum: compared('exclusiveMaximum', 'be below', sign => sign < 0),
  multipleOf: {
    expects: `${aNumber.expects} above zero`,
    accepts: value => aNumber.accepts(value) && exactly(value).gt(0),
    meaning(limit: Limit) {
      const step = exactly(limit);
      const holds = (value: unknown): boolean => exactly(value).mod(step).isZero();
      return { says: `be a multiple of ${step.toFixed()}`, holds, schema: { multipleOf: step.toNumber() } };
    },
  },
};

const INTEGER = /^[+-]?\d+$/;
/** Arithmetic on `1e999999999` would take forever. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?0*\d{1,3})?$/i;

/** Significant decimal digits that every double holds exactly (IEEE 754: DBL_DIG). */
const EXACT_DIGITS = 15;
/** Most characters of a number, and the largest power of ten of a decimal in either direction. */
const MAX_LENGTH = 128;

/** Makes a number of digits, or of a double that `JSON.parse` has made; undefined for what the type does not have. */
type NumberOf<T> = (digits: string | number) => T | undefined;

/** Reads the text of a number that is spelled like this. */
function inText<T>(text: string, spelling: RegExp, numberOf: NumberOf<T>): T | undefined {
  const digits = text.length > MAX_LENGTH ? '' : text.trim();
  return spelling.test(digits) ? numberOf(digits) : undefined;
}

function intOf(digits: string | number): number | undefined {
  const value = Number(digits);
  // `| 0` turns minus zero into zero.
  return (value | 0) === value ? value | 0 : undefined;
}

function longOf(digits: string | number): bigint | undefined {
  if (typeof digits === 'number' && !Number.isSafeInteger(digits)) return undefined;
  const value = BigInt(digits);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

const doubleOf: NumberOf<number> = digits => (Number.isFinite(Number(digits)) ? Number(digits) : undefined);

function decimalOf(digits: string | number): BigNumber | undefined {
  const isShort = typeof digits === 'number' || digits.length <= EXACT_DIGITS;
  const short = isShort ? shortDecimal(Number(digits)) : undefined;
  if (short || (typeof digits === 'number' && isRounded(digits))) return short;
  const value = new BigNumber(digits);
  return value.isFinite() && Math.abs(value.e ?? 0) <= MAX_LENGTH ? value : undefined;
}

const readDecimal = (text: string): BigNumber | undefined => inText(text, NUMBER, decimalOf);

/** Makes a type of numbers. */
function numbers<T>(
  name: string,
  spelling: RegExp,
  numberOf: NumberOf<T>,
  facts: Omit<Spelling<T>, 'text'>,
): RuledType<T, NumberRules> {
  const { needsExactNumbers: isExact } = facts;
  const text = (sent: string): T | undefined => inText(sent, spelling, numberOf);
  const json = (value: unknown): T | undefined => {
    if (typeof value === 'number') return numberOf(value);
    if (isExactNumber(value) && !isExact) return numberOf(Number(value.value));
    // `5.0` and `1e2` are whole numbers, as for `JSON.parse`.
    if (isExactNumber(value)) return text(value.value) ?? text(readDecimal(value.value)?.toFixed() ?? '');
    // As a string, too, where many clients would round a number.
    return typeof value === 'string' && !isExact ? undefined : text(textOf(value));
  };
  // The number that was sent is unknown if a parser in front has rounded it.
  const rounded = 'The number has more digits than can be read exactly here; send it as a string.';
  const report: ScalarCodec['read'] = (value, at) =>
    typeof value === 'number' && isRounded(value) ? at.fail('invalid', rounded) : at.failValue(value, facts.described);
  return scalar(name, { ...facts, text, json, read: isExact ? report : undefined }, numberRules);
}

/**
 * Returns the text of an exact number, empty for other values: drivers of databases return columns of 64 bits and
 * decimals as text, and other classes of numbers are text in JSON.
 */
function textOf(value: unknown): string {
  const json = asJson(value);
  return typeof json === 'string' || typeof json === 'bigint' ? String(json) : '';
}

/** A 32-bit integer: optional sign, digits. */
export const int: RuledType<number, NumberRules> = numbers('int', INTEGER, intOf, {
  described: 'a whole number from -2147483648 to 2147483647',
  schema: { type: 'integer', format: 'int32' },
});

/** A 64-bit integer, as a bigint. In JSON a number or, for clients without 64-bit numbers, a string. */
export const long: RuledType<bigint, NumberRules> = numbers('long', INTEGER, longOf, {
  described: 'a whole number of at most 64 bits',
  // As a number, 2 ** 60 would be written with the digits of another one, 1152921504606847000.
  write: value =>
    Number.isInteger(value) ? BigInt(value as number) : (inText(textOf(value), INTEGER, longOf) ?? value),
  schema: { type: ['string', 'integer'], format: 'int64', pattern: '^[+-]?[0-9]{1,19}$' },
  writtenSchema: { type: 'integer', format: 'int64' },
  needsExactNumbers: true,
});

/** A finite IEEE 754 double. */
export const double: RuledType<number, NumberRules> = numbers('double', NUMBER, doubleOf, {
  described: 'a number from -1.79e308 to 1.79e308',
  schema: { type: 'number', format: 'double' },
});

/** Tells a decimal from what is written otherwise: by a converter, or as text. */
const AS_NUMBER = { type: 'number', format: 'decimal' };

/** An exact decimal number (BigNumber) that keeps every digit sent. In JSON a number or a string. */
export const decimal: RuledType<BigNumber, NumberRules> = numbers('decimal', NUMBER, decimalOf, {
  described: 'a decimal number of at most 128 characters, for example 12.50',
  // Null for NaN and Infinity, as for a double.
  write(value) {
    const exact = BigNumber.isBigNumber(value) ? value : readDecimal(textOf(value));
    if (!exact?.isFinite()) return exact ? null : value;
    const fixed = exact.toFixed();
    // One with very many zeros has an exponent, so that it can be read again.
    return new WrittenNumber(fixed.length > MAX_LENGTH ? exact.toExponential() : fixed);
  },
  schema: {
    type: ['string', 'number'],
    format: 'decimal',
    pattern: '^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)$',
    maxLength: MAX_LENGTH,
    // Pages that send requests begin with it; from the pattern, they make a number of any length.
    examples: ['12.50'],
  },
  writtenSchema: AS_NUMBER,
  needsExactNumbers: true,
});

/**
 * Returns the codec of a decimal that is written as text, and any other as it is.
 */
export function decimalInText(codec: Codec | undefined): Codec | undefined {
  if (codec?.kind !== 'scalar' || codec.writtenSchema !== AS_NUMBER) return codec;
  return {
    ...codec,
    write(value) {
      // Text keeps its zeros at the end.
      if (typeof value === 'string' && readDecimal(value)) return value.trim();
      const json = codec.write?.(/number|bigint/.test(typeof value) ? new BigNumber(String(value)) : value);
      return json instanceof WrittenNumber ? json.value : json;
    },
    schema: { ...codec.schema, type: 'string' },
    writtenSchema: { type: 'string', format: 'decimal' },
  };
}

/**
 * Returns true if an earlier parser may have rounded a number to this double. A fraction that is short afterwards does
 * not show it: 0.1 may have been sent with twenty digits.
 */
export function isRounded(value: number): boolean {
  if (Number.isInteger(value)) return Math.abs(value) >= 10 ** EXACT_DIGITS;
  return String(value).length > EXACT_DIGITS && Number(value.toPrecision(EXACT_DIGITS)) !== value;
}

/**
 * Makes the decimal that a double of at most fifteen digits stands for, from 1 and six of them after the point;
 * undefined for another. It is made of its digits in words of fourteen, as bignumber.js documents them: parsing a text
 * takes four times as long, 11 µs more for an order with twenty prices.
 */
function shortDecimal(value: number): BigNumber | undefined {
  const size = Math.abs(value);
  const millionths = Math.round(size * 1e6);
  if (!(size >= 1 && millionths < 10 ** EXACT_DIGITS && millionths / 1e6 === size)) return undefined;
  const whole = Math.floor(size);
  const fraction = (millionths - whole * 1e6) * 1e8;
  const c = fraction === 0 ? [whole] : [whole, fraction];
  const parts = { s: Math.sign(value), e: String(whole).length - 1, c, _isBigNumber: true };
  return new BigNumber(parts as unknown as BigNumber);
}
