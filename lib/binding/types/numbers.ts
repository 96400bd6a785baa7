import BigNumber = require('bignumber.js');
import type { Rule as Allowed } from '../../options/check';
import { warnOnce } from '../../warnings/warn-once';
import { isExactNumber } from '../../body/content/exact-json';
import { WrittenNumber } from './write-value';
import { asJson } from '../reading/json-text';
import { exactly, order, type Kinds, type Row, type RuledType } from './rules';
import type { Codec } from './codec';
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

const aNumber: Allowed = {
  expects: 'a number, a bigint or the text of a number',
  accepts: value =>
    ['number', 'bigint', 'string'].includes(typeof value) && /^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i.test(String(value)),
};
const aboveZero: Allowed = {
  expects: `${aNumber.expects} above zero`,
  accepts: value => aNumber.accepts(value) && exactly(value).gt(0),
};

/** Makes a rule that compares numbers. @param isKept tells by the sign of value minus limit. */
const compared = (keyword: string, words: string, isKept: (sign: number) => boolean): Row => ({
  allowed: aNumber,
  meaning(limit: Limit) {
    const edge = exactly(limit);
    // A double compares itself with a limit that it holds.
    const signOf = (value: unknown): number =>
      typeof value === 'number' && typeof limit === 'number' ? value - limit : order(exactly(value), edge);
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
    allowed: aboveZero,
    meaning(limit: Limit) {
      const step = exactly(limit);
      const holds = (value: unknown): boolean => exactly(value).mod(step).isZero();
      return { says: `be a multiple of ${step.toFixed()}`, holds, schema: { multipleOf: step.toNumber() } };
    },
  },
};

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Significant decimal digits that every double holds exactly (IEEE 754: DBL_DIG). */
const EXACT_DIGITS = 15;
/**
 * Most characters of a number, and the largest power of ten in either direction: arithmetic on `1e999999999` would take
 * forever.
 */
const MAX_LENGTH = 128;

/** A type of numbers. */
interface NumberSpelling<T> extends Omit<Spelling<T>, 'json'> {
  /** Reads a number that `JSON.parse` has made. */
  readonly double: (value: number) => T | undefined;
  /** True for whole numbers: in JSON, `5.0` and `1e2` are 5 and 100, as for `JSON.parse`. */
  readonly isWhole?: boolean;
}

function numbers<T>(
  name: string,
  { double, isWhole = false, ...spelling }: NumberSpelling<T>,
): RuledType<T, NumberRules> {
  const { text: read, needsExactNumbers } = spelling;
  const json = (value: unknown): T | undefined => {
    if (typeof value === 'number') return double(value);
    // As a string, too, where many clients would round a number.
    if (typeof value === 'string') return needsExactNumbers ? read(value) : undefined;
    if (!isExactNumber(value)) return typeof value === 'bigint' ? read(String(value)) : ifText(value, read);
    const exact = isWhole ? readDecimal(value.value) : undefined;
    return read(exact?.isInteger() ? exact.toFixed() : value.value);
  };
  return scalar(name, { ...spelling, json, refusal: needsExactNumbers ? ifRounded : undefined }, numberRules);
}

/** A 32-bit integer: optional sign, digits. */
export const int: RuledType<number, NumberRules> = numbers('int', {
  described: 'a whole number from -2147483648 to 2147483647',
  isWhole: true,
  text: readInt,
  double: value => ((value | 0) === value ? value | 0 : undefined),
  schema: { type: 'integer', format: 'int32' },
});

/** A 64-bit integer, as a bigint. In JSON a number or, for clients without 64-bit numbers, a string. */
export const long: RuledType<bigint, NumberRules> = numbers('long', {
  described: 'a whole number of at most 64 bits',
  isWhole: true,
  text: readLong,
  double: value => (Number.isSafeInteger(value) ? BigInt(value) : undefined),
  // As a number, 2 ** 60 would be written with the digits of another one, 1152921504606847000.
  write: value => (Number.isInteger(value) ? BigInt(value as number) : (ifText(value, readLong) ?? value)),
  schema: { type: ['string', 'integer'], format: 'int64', pattern: '^[+-]?[0-9]{1,19}$' },
  writtenSchema: { type: 'integer', format: 'int64' },
  needsExactNumbers: true,
});

/** A finite IEEE 754 double. */
export const double: RuledType<number, NumberRules> = numbers('double', {
  described: 'a number from -1.79e308 to 1.79e308',
  text: readDouble,
  double: value => (Number.isFinite(value) ? value : undefined),
  schema: { type: 'number', format: 'double' },
});

/** An exact decimal number (BigNumber) that keeps every digit sent. In JSON a number or a string. */
export const decimal: RuledType<BigNumber, NumberRules> = numbers('decimal', {
  described: 'a decimal number of at most 128 characters, for example 12.50',
  text: readDecimal,
  double: value =>
    shortDecimal(value) ?? (isRounded(value) ? undefined : readDecimal(Object.is(value, -0) ? '-0' : String(value))),
  write(value) {
    const exact = BigNumber.isBigNumber(value) ? value : ifText(value, readDecimal);
    return exact ? exactNumber(exact) : value;
  },
  schema: {
    type: ['string', 'number'],
    format: 'decimal',
    pattern: '^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)$',
    maxLength: MAX_LENGTH,
    // Pages that send requests begin with it; from the pattern, they make a number of any length.
    examples: ['12.50'],
    exclusiveMinimum: -1e129,
    exclusiveMaximum: 1e129,
  },
  writtenSchema: { type: 'number', format: 'decimal' },
  needsExactNumbers: true,
});

/** Returns the codec of a decimal that is written as text, and any other as it is. */
export function decimalInText(codec: Codec | undefined): Codec | undefined {
  if (codec?.kind !== 'scalar' || codec.name !== 'decimal') return codec;
  const write = (value: unknown): unknown => {
    // Text keeps its zeros at the end.
    if (typeof value === 'string' && readDecimal(value)) return value.trim();
    const json = codec.write?.(/number|bigint/.test(typeof value) ? new BigNumber(String(value)) : value);
    return json instanceof WrittenNumber ? json.value : json;
  };
  return {
    ...codec,
    write,
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

/** Explains the refusal of a rounded number: the one that was sent is unknown. */
function ifRounded(value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || !isRounded(value)) return undefined;
  warnOnce(
    'BINDONCE_ROUNDED_NUMBER',
    'bindonce: a number for a long or a decimal was refused, because a JSON parser before bindRequest() has ' +
      'rounded it. Mount bindRequest() before express.json(), or send such numbers as text. ' +
      'If it is a claim of a token, let the issuer write it as text.',
  );
  return 'The number has more digits than can be read exactly here; send it as a string.';
}

/** Trims the text of a number. Returns empty text, which is not a number, if it is too long, or spelled otherwise. */
function numeral(text: string, spelling: RegExp): string {
  const trimmed = text.length > MAX_LENGTH ? '' : text.trim();
  return spelling.test(trimmed) ? trimmed : '';
}

function readInt(text: string): number | undefined {
  const digits = numeral(text, INTEGER);
  const value = Number(digits);
  // Adding zero turns minus zero into zero.
  return digits !== '' && value >= -0x8000_0000 && value <= 0x7fff_ffff ? value + 0 : undefined;
}

function readLong(text: string): bigint | undefined {
  const digits = numeral(text, INTEGER);
  const value = BigInt(digits.replace(/^\+/, ''));
  return digits !== '' && BigInt.asIntN(64, value) === value ? value : undefined;
}

function readDouble(text: string): number | undefined {
  const digits = numeral(text, NUMBER);
  return digits !== '' && Number.isFinite(Number(digits)) ? Number(digits) : undefined;
}

function readDecimal(text: string): BigNumber | undefined {
  const digits = numeral(text, NUMBER);
  if (digits === '') return undefined;
  const short = digits.length <= EXACT_DIGITS ? shortDecimal(Number(digits)) : undefined;
  if (short) return short;
  const value = new BigNumber(digits);
  // bignumber.js makes zero of what is closer to zero than 1e-10000000.
  if (value.isZero() && /^[^e]*[1-9]/i.test(digits)) return undefined;
  return value.isFinite() && Math.abs(value.e ?? 0) <= MAX_LENGTH ? value : undefined;
}

/**
 * Makes the JSON number of a decimal; null for NaN and Infinity, as for a double. One with very many zeros is written
 * with an exponent, so that it can be read again.
 */
function exactNumber(value: BigNumber): WrittenNumber | null {
  const fixed = value.toFixed();
  return value.isFinite() ? new WrittenNumber(fixed.length > MAX_LENGTH ? value.toExponential() : fixed) : null;
}

/**
 * Makes the decimal that a double of at most fifteen digits stands for, six of them after the point; undefined for
 * another. It is made of its digits in words of fourteen, as bignumber.js documents them: parsing a text takes ten
 * times as long (0.3 µs), and an order has many prices.
 */
function shortDecimal(value: number): BigNumber | undefined {
  const size = Math.abs(value);
  const millionths = Math.round(size * 1e6);
  if (!(millionths > 0 && millionths < 10 ** EXACT_DIGITS && millionths / 1e6 === size)) return undefined;
  const whole = Math.floor(millionths / 1e6);
  const fraction = (millionths - whole * 1e6) * 1e8;
  const words = whole === 0 ? [fraction] : fraction === 0 ? [whole] : [whole, fraction];
  const exponent = whole === 0 ? String(fraction).length - 15 : String(whole).length - 1;
  const parts = { s: value < 0 ? -1 : 1, e: exponent, c: words, _isBigNumber: true };
  return new BigNumber(parts as unknown as BigNumber);
}

/**
 * Reads text that stands for an exact number: drivers of databases return columns of 64 bits and decimals as text, and
 * other classes of numbers are text in JSON. Undefined for other values.
 */
function ifText<T>(value: unknown, read: (text: string) => T | undefined): T | undefined {
  const json = asJson(value);
  return typeof json === 'string' ? read(json) : undefined;
}
