import BigNumber = require('bignumber.js');
import type { Rule as Allowed } from '../../options/check';
import type { Kind, Kinds } from './rules';

/** Rules of `int`, `long`, `double` and `decimal`. A limit is a number, a bigint or its text, and counts exactly. */
export interface NumberRules {
  /** The smallest value. */
  minimum?: number | bigint | string;
  /** The largest value. */
  maximum?: number | bigint | string;
  /** Values are larger. */
  exclusiveMinimum?: number | bigint | string;
  /** Values are smaller. */
  exclusiveMaximum?: number | bigint | string;
  /** Values are multiples, by their decimal digits: 0.3 is one of 0.1. */
  multipleOf?: number | bigint | string;
}

type Limit = number | bigint | string;

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i;

const limit: Allowed = {
  expects: 'a number, a bigint or the text of a number',
  accepts: value => ['number', 'bigint', 'string'].includes(typeof value) && NUMBER.test(String(value)),
};

const exactly = (value: unknown): BigNumber => (BigNumber.isBigNumber(value) ? value : new BigNumber(String(value)));

/** Makes the rule that compares numbers. @param isKept tells by the sign of value minus limit. */
const comparison = (keyword: string, words: string, isKept: (sign: number) => boolean): Kind => ({
  allowed: limit,
  meaning(limit: Limit) {
    const exact = exactly(limit);
    // A double compares itself with a limit that it holds.
    const plain = typeof limit === 'number' ? limit : undefined;
    return {
      rule: {
        says: `${words} ${exact.toFixed()}`,
        holds: (value: unknown) =>
          isKept(
            typeof value === 'number' && plain !== undefined
              ? Math.sign(value - plain)
              : Number(exactly(value).comparedTo(exact)),
          ),
      },
      schema: { [keyword]: exact.toNumber() },
    };
  },
});

export const numberRules: Kinds<NumberRules> = {
  rules: {
    minimum: comparison('minimum', 'be at least', sign => sign >= 0),
    maximum: comparison('maximum', 'be at most', sign => sign <= 0),
    exclusiveMinimum: comparison('exclusiveMinimum', 'be above', sign => sign > 0),
    exclusiveMaximum: comparison('exclusiveMaximum', 'be below', sign => sign < 0),
    multipleOf: {
      allowed: {
        ...limit,
        expects: `${limit.expects} above zero`,
        accepts: value => limit.accepts(value) && exactly(value).gt(0),
      },
      meaning(step: Limit) {
        const exact = exactly(step);
        return {
          rule: {
            says: `be a multiple of ${exact.toFixed()}`,
            holds: (value: unknown) => exactly(value).mod(exact).isZero(),
          },
          schema: { multipleOf: exact.toNumber() },
        };
      },
    },
  },
  pairs: [
    ['minimum', 'maximum'],
    ['minimum', 'exclusiveMaximum', 'open'],
    ['exclusiveMinimum', 'maximum', 'open'],
    ['exclusiveMinimum', 'exclusiveMaximum', 'open'],
  ],
  compare: (low: Limit, high: Limit) => Number(exactly(low).comparedTo(exactly(high))),
};
