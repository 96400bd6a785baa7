import { bool, dateTime, decimal, double, dto, enumOf, guid, int, list, long, optional, string } from 'bindonce';

export const currencies = ['EUR', 'USD', 'GBP'];

export class Line extends dto({ sku: string, quantity: int, unitPrice: double }) {}
/** The properties of an order. */
export const orderOf = Item => ({
  id: guid,
  email: string,
  currency: enumOf(currencies),
  placedAt: dateTime,
  note: optional(string),
  discount: double,
  priority: int,
  gift: bool,
  express: bool,
  items: list(Item),
});
export class Order extends dto(orderOf(Line)) {}

export class ExactLine extends dto({ sku: string, quantity: int, unitPrice: decimal }) {}
export class ExactOrder extends dto({ number: long, email: string, items: list(ExactLine) }) {}

const row = {
  id: guid,
  name: string,
  email: string,
  age: int,
  balance: double,
  active: bool,
  city: string,
  country: string,
  note: optional(string),
  lines: list(Line),
};
export class Row extends dto(row) {}
export class DatedRow extends dto({ ...row, at: dateTime }) {}

export const listOf = list;
