import { LosslessNumber } from 'lossless-json';

/**
 * Returns true for a JSON number that keeps its digits, as `parseExactly` makes it. Only its class counts: an object
 * that a client sends can look like one (`{"isLosslessNumber":true}`).
 */
export function isExactNumber(value: unknown): value is LosslessNumber {
  return value instanceof LosslessNumber;
}
