import BigNumber = require('bignumber.js');
import { isLosslessNumber } from 'lossless-json';
import { failure, success, type ParseResult, type PropertyType } from './property-type';
import { scalar } from './scalar';

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Significant decimal digits that every double holds exactly (IEEE 754: DBL_DIG). */
const EXACT_DIGITS = 15;
/** Characters of a number, and powers of ten either way: arithmetic on `1e999999999` would take for ever. */
const MAX_LENGTH = 128;

/** A 32-bit integer: optional sign, digits. */
export const int: PropertyType<number> = scalar('int', readInt, value => {
  const text = numberText(value);
  return text === undefined ? failure : readInt(text);
});

/** A 64-bit integer, as a bigint. In JSON a number or, for clients without 64-bit numbers, a string. */
export const long: PropertyType<bigint> = { ...scalar('long', readLong, value => {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return failure;
  const text = typeof value === 'string' ? value : numberText(value);
  return text === undefined ? failure : readLong(text);
}), keepsDigits: true };

/** A finite IEEE 754 double. */
export const double: PropertyType<number> = scalar('double', readDouble, value => {
  const text = numberText(value);
  return text === undefined ? failure : readDouble(text);
});

/** An exact decimal number: what was sent is what is held, digit for digit. In JSON a number or a string. */
export const decimal: PropertyType<BigNumber> = { ...scalar('decimal', readDecimal, value => {
  const text = typeof value === 'string' ? value : numberText(value);
  if (text === undefined) return failure;
  const result = readDecimal(text);
  // A parser before us has rounded to a double; only short numbers are sure to be what was sent.
  if (typeof value === 'number' && result.success && result.value.sd() > EXACT_DIGITS) return failure;
  return result;
}), keepsDigits: true };

function readInt(text: string): ParseResult<number> {
  const trimmed = text.trim();
  const value = Number(trimmed);
  return INTEGER.test(trimmed) && value >= -0x8000_0000 && value <= 0x7fff_ffff ? success(value + 0) : failure;
}

function readLong(text: string): ParseResult<bigint> {
  const trimmed = text.trim();
  if (!INTEGER.test(trimmed) || trimmed.length > MAX_LENGTH) return failure;
  const value = BigInt(trimmed.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? success(value) : failure;
}

function readDouble(text: string): ParseResult<number> {
  const trimmed = text.trim();
  const value = Number(trimmed);
  return NUMBER.test(trimmed) && Number.isFinite(value) ? success(value) : failure;
}

function readDecimal(text: string): ParseResult<BigNumber> {
  const trimmed = text.trim();
  if (!NUMBER.test(trimmed) || trimmed.length > MAX_LENGTH) return failure;
  const value = new BigNumber(trimmed);
  return value.isFinite() && Math.abs(value.e ?? 0) <= MAX_LENGTH ? success(value) : failure;
}

/**
 * A JSON number as it was written, or as a parser before us left it. Whole numbers are written out: `5.0` and `1e2` are 5 and
 * 100 for `JSON.parse`, and must not mean something else where numbers keep their digits.
 */
function numberText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  if (!isLosslessNumber(value)) return undefined;
  const result = readDecimal(value.value);
  return result.success && result.value.isInteger() ? result.value.toFixed() : value.value;
}
