
import { decimal, dto, field, list, optional, queryParam, type BigNumber } from 'bindonce';
export class Line extends dto({
  price: decimal,
  discounts: list(decimal),
  refund: optional(decimal),
  tax: field(decimal, { required: false }),
  limit: queryParam(decimal),
}) {}
export const total = (line: Line) => line.price.plus(line.limit);
export type { BigNumber };
