import BigNumber = require('bignumber.js');

/** Most prices: a whole part of up to 14 digits, which is not zero, and up to as many decimal places. */
const PRICE = /^[1-9]\d{0,13}\.\d{1,14}$/;

/** Decimal digits in an element of the coefficient of a BigNumber. */
const ELEMENT_DIGITS = 14;

const POWERS_OF_TEN = Array.from({ length: ELEMENT_DIGITS }, (_, exponent) => Number(`1e${exponent}`));

/**
 * Makes the BigNumber of a text. The parts of most prices are computed here: bignumber.js takes twice as long, 0.4 µs.
 */
export function bigNumberOf(text: string): BigNumber {
  if (!PRICE.test(text)) return new BigNumber(text);
  const point = text.indexOf('.');
  const whole = Number(text.slice(0, point));
  const missing = ELEMENT_DIGITS - (text.length - point - 1);
  const fraction = Number(text.slice(point + 1)) * (POWERS_OF_TEN[missing] ?? NaN);
  const coefficient = fraction === 0 ? [whole] : [whole, fraction];
  return new BigNumber({ s: 1, e: point - 1, c: coefficient, _isBigNumber: true });
}
