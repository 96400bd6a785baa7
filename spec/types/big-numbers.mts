import { BigNumber, decimal, field, list, nullable, optional, string } from '../../lib/index.js';

/** In an ES module, the BigNumber of bignumber.js is another class to the compiler than the one that CommonJS is told of. */
export class Prices {
  @field(decimal) price!: BigNumber;
  @field(optional(decimal)) discount: BigNumber | undefined;
  @field(nullable(decimal)) refund!: BigNumber | null;
  @field(list(decimal)) parts!: BigNumber[];
  @field(decimal, { default: new BigNumber(0) }) shipping!: BigNumber;
  @field(list(decimal), { default: () => [new BigNumber(0)] }) taxes!: BigNumber[];
}

export class Wrong {
  // @ts-expect-error -- text is no number
  @field(string) name!: BigNumber;
  // @ts-expect-error -- a decimal is no text
  @field(decimal) price!: string;
  // @ts-expect-error -- an optional value may be undefined
  @field(optional(decimal)) discount!: BigNumber;
}

/** What the value of a `decimal` is, another BigNumber takes. */
export const total = (prices: { price: import('../../lib/index.js').BigNumber }): BigNumber =>
  new BigNumber(prices.price).plus(1);
