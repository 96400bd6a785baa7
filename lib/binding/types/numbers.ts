import BigNumber = require('bignumber.js');
import { warnOnce } from '../../warnings/warn-once';
import { isExactNumber } from '../../body/content/exact-json';
import { WrittenNumber } from './exact-text';
import { asJson } from '../reading/json-text';
import { numberRules, type NumberRules } from './number-rules';
import type { RuledType } from './rules';
import { scalar } from './scalar';

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Significant decimal digits that every double holds exactly (IEEE 754: DBL_DIG). */
const EXACT_DIGITS = 15;
/**
 * Most characters of a number, and the largest power of ten in either direction: arithmetic on `1e999999999` would take
 * forever.
 */
const MAX_LENGTH = 128;
/** Most characters of a text that is parsed as a number, white space and leading zeros included. */
const LONGEST_TEXT = 1_200;

/** A 32-bit integer: optional sign, digits. */
export const int: RuledType<number, NumberRules> = scalar(
  'int',
  {
    described: 'a whole number from -2147483648 to 2147483647',
    text: readInt,
    json(value) {
      if (typeof value === 'number') return (value | 0) === value ? value | 0 : undefined;
      return ifNumber(value, readInt);
    },
    schema: { type: 'integer', format: 'int32' },
  },
  numberRules,
);

/** A 64-bit integer, as a bigint. In JSON a number or, for clients without 64-bit numbers, a string. */
export const long: RuledType<bigint, NumberRules> = scalar(
  'long',
  {
    described: 'a whole number of at most 64 bits',
    text: readLong,
    json(value) {
      if (typeof value === 'string') return readLong(value);
      if (typeof value === 'number' && !Number.isSafeInteger(value)) return undefined;
      return ifNumber(value, readLong);
    },
    write(value) {
      if (typeof value === 'bigint') return value;
      // As a number, 2 ** 60 would be written with the digits of another one, 1152921504606847000.
      const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
      return (isLarge ? readLong(String(BigInt(value as number))) : ifText(value, readLong)) ?? value;
    },
    // As a string, too: many clients would round a number.
    schema: { type: ['string', 'integer'], format: 'int64', pattern: '^[+-]?[0-9]{1,19}$' },
    writtenSchema: { type: 'integer', format: 'int64' },
    needsExactNumbers: true,
    refusal: ifRounded,
  },
  numberRules,
);

/** A finite IEEE 754 double. */
export const double: RuledType<number, NumberRules> = scalar(
  'double',
  {
    described: 'a number from -1.79e308 to 1.79e308',
    text: readDouble,
    json: value => (typeof value === 'number' && Number.isFinite(value) ? value : ifNumber(value, readDouble)),
    schema: { type: 'number', format: 'double' },
  },
  numberRules,
);

/** An exact decimal number (BigNumber) that keeps every digit sent. In JSON a number or a string. */
export const decimal: RuledType<BigNumber, NumberRules> = scalar(
  'decimal',
  {
    described: 'a decimal number of at most 128 characters, for example 12.50',
    text: readDecimal,
    json(value) {
      if (typeof value === 'string') return readDecimal(value);
      // The digits are those of a JSON number, so they need no check.
      if (isExactNumber(value)) return value.value.length > MAX_LENGTH ? undefined : decimalOf(value.value);
      if (typeof value !== 'number') return ifNumber(value, readDecimal);
      return (
        shortDecimal(value) ?? (isRounded(value) ? undefined : decimalOf(Object.is(value, -0) ? '-0' : String(value)))
      );
    },
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
    refusal: ifRounded,
  },
  numberRules,
);

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

/** Trims the text of a number. Returns empty text, which is not a number, if it is too long. */
const numeral = (text: string): string => (text.length > LONGEST_TEXT ? '' : text.trim());

function readInt(text: string): number | undefined {
  const trimmed = numeral(text);
  const value = Number(trimmed);
  // Adding zero turns minus zero into zero.
  return INTEGER.test(trimmed) && value >= -0x8000_0000 && value <= 0x7fff_ffff ? value + 0 : undefined;
}

function readLong(text: string): bigint | undefined {
  const trimmed = numeral(text);
  if (trimmed.length > MAX_LENGTH || !INTEGER.test(trimmed)) return undefined;
  const value = BigInt(trimmed.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function readDouble(text: string): number | undefined {
  const trimmed = numeral(text);
  const value = Number(trimmed);
  return NUMBER.test(trimmed) && Number.isFinite(value) ? value : undefined;
}

function readDecimal(text: string): BigNumber | undefined {
  const trimmed = numeral(text);
  if (trimmed.length > MAX_LENGTH || !NUMBER.test(trimmed)) return undefined;
  return decimalOf(trimmed);
}

/**
 * Makes the JSON number of a decimal; null for NaN and Infinity, as for a double. Numbers with many zeros are written
 * with an exponent, so that they can be read again.
 */
function exactNumber(value: BigNumber): WrittenNumber | null {
  if (!value.isFinite()) return null;
  const fixed = value.toFixed();
  if (fixed.length <= 40) return new WrittenNumber(fixed);
  const exponential = value.toExponential();
  return new WrittenNumber(fixed.length <= exponential.length ? fixed : exponential);
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

function decimalOf(numeral: string): BigNumber | undefined {
  const short = numeral.length <= EXACT_DIGITS ? shortDecimal(Number(numeral)) : undefined;
  if (short) return short;
  const value = new BigNumber(numeral);
  // bignumber.js makes zero of what is closer to zero than 1e-10000000.
  if (value.isZero() && /^[^e]*[1-9]/i.test(numeral)) return undefined;
  return value.isFinite() && Math.abs(value.e ?? 0) <= MAX_LENGTH ? value : undefined;
}

/**
 * Reads text that stands for an exact number: drivers of databases return columns of 64 bits and decimals as text, and
 * other classes of numbers are text in JSON. Undefined for other values.
 */
function ifText<T>(value: unknown, read: (text: string) => T | undefined): T | undefined {
  const json = asJson(value);
  return typeof json === 'string' ? read(json) : undefined;
}

function ifNumber<T>(value: unknown, read: (text: string) => T | undefined): T | undefined {
  const text = numberText(value);
  return text === undefined ? undefined : read(text);
}

/**
 * Returns the text of a JSON number as it was written, or as an earlier parser left it. Whole numbers are written out:
 * `5.0` and `1e2` are 5 and 100 for `JSON.parse`, and must mean the same where numbers keep their digits.
 */
function numberText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return undefined;
  if (!isExactNumber(value)) return ifText(value, text => text);
  const exact = readDecimal(value.value);
  return exact?.isInteger() ? exact.toFixed() : value.value;
}
