import { LosslessNumber } from 'lossless-json';

/**
 * True for a JSON number that keeps its digits, as our own parser has made it. By its class and nothing else: an object that a
 * client sends can look like one (`{"isLosslessNumber":true}`).
 */
export function isExactNumber(value: unknown): value is LosslessNumber {
  return value instanceof LosslessNumber;
}
