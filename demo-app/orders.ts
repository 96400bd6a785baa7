import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BigNumber,
  bool,
  decimal,
  dto,
  field,
  fromHeader,
  guid,
  int,
  jsonField,
  list,
  optional,
  queryParam,
  routeParam,
  string,
  type BoundRequest,
  type Configured,
} from 'bindonce';
import { Router, type Request, type Response } from 'express';
import type { Ledger } from './ledger';
import { report } from './requests';

export class OrderLine extends dto({
  sku: string.with({ minLength: 1 }),
  quantity: int.with({ minimum: 1, maximum: 99 }),
  unitPrice: decimal.with({ minimum: 0 }),
}) {}

export class PlaceOrder extends dto({
  customerId: routeParam(string, { description: 'A name or a number.' }),
  items: jsonField(list(OrderLine, { minItems: 1 })),
  note: jsonField(optional(string)),
  channel: fromHeader(string, { name: 'X-Channel', required: false, fallback: false }),
  cart: fromHeader(string, {
    name: 'X-Cart',
    required: false,
    fallback: false,
    description: 'Two orders of one cart were meant to be one.',
  }),
  rush: queryParam(bool, { default: false }),
}) {}

export class PlacedLine extends dto({ sku: string, quantity: int, unitPrice: string }) {}

export interface Order {
  readonly orderId: string;
  readonly customerId: string;
  readonly items: readonly { readonly sku: string; readonly quantity: number; readonly unitPrice: string }[];
  readonly total: string;
  readonly rush: boolean;
  readonly note?: string;
  readonly channel?: string;
  /** Two orders of one cart were meant to be one. */
  readonly cart?: string;
}

/** An order, as the shop answers. */
export class OrderPlaced extends dto({
  orderId: guid,
  customerId: string,
  items: field(list(PlacedLine)),
  total: string,
  rush: bool,
  note: optional(string),
  channel: optional(string),
  cart: optional(string),
}) {}

export class FindOrder extends dto({ customerId: routeParam(string), orderId: routeParam(guid) }) {}

export class Orders extends dto({ orders: field(list(OrderPlaced)) }) {}

/**
 * Simulates a payment: a real shop would call its payment provider here.
 * @param providerKey the provider's idempotency key: the `cacheKey`, since two customers may send the same `key`.
 * @returns the reference of the payment.
 */
const pay = (providerKey: string | undefined): Promise<string | undefined> => sleep(600, providerKey);

type Handler = (req: BoundRequest<typeof PlaceOrder>, res: Response) => Promise<void>;

/** What the handler needs of its guard. */
type Guard = Pick<Request['idempotency'], 'key' | 'cacheKey'>;

export function orders({ idempotency, bindRequest }: Configured, ledger: Ledger<Order>): Router {
  const router = Router();

  const place: Handler = async (req, res) => {
    const order = orderOf(req.dto);
    // Without bindonce, there is no guard.
    const { idempotency: guard } = req as { readonly idempotency?: Guard };
    report('paying', guard ? { key: guard.key } : {});
    await pay(guard?.cacheKey);
    await ledger.add(order);
    res
      .status(201)
      .location(`/customers/${encodeURIComponent(order.customerId)}/orders/${order.orderId}`)
      .json(order);
  };

  const orderPlaced = {
    responses: { 201: OrderPlaced },
    openapi: { operationId: 'placeOrder', summary: 'Places an order, once', tags: ['orders'] },
  };
  router.post('/customers/:customerId/orders', idempotency(), bindRequest(PlaceOrder, orderPlaced), place);

  // What the page calls when bindonce is switched off: the same handler runs for each request.
  const hidden = { openapi: { hidden: true } };
  router.post('/without/customers/:customerId/orders', bindRequest(PlaceOrder, hidden), async (req, res) => {
    const started = performance.now();
    await place(req, res);
    const durationMs = performance.now() - started;
    report('unguarded', { durationMs, handlerMs: durationMs });
  });

  const oneOrder = {
    responses: { 200: OrderPlaced },
    openapi: { operationId: 'findOrder', summary: 'Shows an order', tags: ['orders'] },
  };
  router.get('/customers/:customerId/orders/:orderId', bindRequest(FindOrder, oneOrder), async (req, res) => {
    const { customerId, orderId } = req.dto;
    const order = (await ledger.all()).find(one => one.orderId === orderId && one.customerId === customerId);
    if (order) res.json(order);
    else res.sendStatus(404);
  });

  const allOrders = {
    responses: { 200: Orders },
    openapi: { operationId: 'listOrders', summary: 'Lists the orders really placed', tags: ['orders'] },
  };
  router.get('/orders', bindRequest(dto({}), allOrders), async (_req, res) => {
    res.json({ orders: await ledger.all() });
  });

  return router;
}

function orderOf({ customerId, items, note, channel, cart, rush }: PlaceOrder): Order {
  const total = items.reduce((sum, { quantity, unitPrice }) => sum.plus(unitPrice.times(quantity)), new BigNumber(0));
  return {
    orderId: randomUUID(),
    customerId,
    items: items.map(({ sku, quantity, unitPrice }) => ({ sku, quantity, unitPrice: unitPrice.toFixed() })),
    total: total.toFixed(2),
    rush,
    ...(note !== undefined && { note }),
    ...(channel !== undefined && { channel }),
    ...(cart !== undefined && { cart }),
  };
}
