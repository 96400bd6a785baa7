/** The order, declared for bindonce and for zod, and checked by hand. */
import {
  bool,
  dateTime,
  double,
  dto,
  enumOf,
  fromHeader,
  guid,
  int,
  list,
  optional,
  queryParam,
  routeParam,
  string,
} from 'bindonce';
import { z } from 'zod';
import { currencies, MAX_ITEMS } from './order.mjs';

class Line extends dto({ sku: string, quantity: int, unitPrice: double }) {}
export class Order extends dto({
  customerId: routeParam(guid),
  priority: queryParam(int),
  rush: queryParam(bool),
  discount: queryParam(double),
  channel: fromHeader(string, { name: 'X-Channel' }),
  note: fromHeader(optional(string), { name: 'X-Note', required: false }),
  currency: enumOf(currencies),
  placedAt: dateTime,
  gift: bool,
  items: list(Line),
}) {}

export const zodOrder = z.object({
  params: z.object({ customerId: z.uuid() }),
  query: z.object({
    priority: z.coerce.number().int(),
    rush: z.enum(['true', 'false']).transform(text => text === 'true'),
    discount: z.coerce.number(),
  }),
  headers: z.object({ 'x-channel': z.string(), 'x-note': z.string().optional() }),
  body: z.object({
    currency: z.enum(currencies),
    placedAt: z.iso.datetime().transform(text => new Date(text)),
    gift: z.boolean(),
    items: z.array(z.object({ sku: z.string(), quantity: z.int32(), unitPrice: z.number() })).max(MAX_ITEMS),
  }),
});

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** @returns the order, and the names of what is invalid in it */
export function checkByHand({ params, query, headers, body }) {
  const failures = [];
  const check = (name, isValid) => {
    if (!isValid) failures.push(name);
  };
  const [priority, discount, placedAt] = [Number(query.priority), Number(query.discount), new Date(body.placedAt)];
  check('customerId', UUID.test(params.customerId));
  check('priority', query.priority !== '' && Number.isInteger(priority));
  check('rush', query.rush === 'true' || query.rush === 'false');
  check('discount', query.discount !== '' && Number.isFinite(discount));
  check('X-Channel', headers['x-channel'] !== undefined);
  check('currency', currencies.includes(body.currency));
  check('placedAt', TIME.test(body.placedAt) && !Number.isNaN(placedAt.getTime()));
  check('gift', typeof body.gift === 'boolean');
  check('items', Array.isArray(body.items) && body.items.length <= MAX_ITEMS);
  const items = (Array.isArray(body.items) ? body.items : []).map((line, index) => {
    check(`items[${index}].sku`, typeof line?.sku === 'string');
    check(`items[${index}].quantity`, Number.isInteger(line?.quantity));
    check(`items[${index}].unitPrice`, Number.isFinite(line?.unitPrice));
    return { sku: line?.sku, quantity: line?.quantity, unitPrice: line?.unitPrice };
  });
  const order = {
    customerId: params.customerId.toLowerCase(),
    priority,
    rush: query.rush === 'true',
    discount,
    channel: headers['x-channel'],
    note: headers['x-note'],
    currency: body.currency,
    placedAt,
    gift: body.gift,
    items,
  };
  return { failures, order };
}
