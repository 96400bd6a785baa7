import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BigNumber,
  bool,
  decimal,
  dto,
  fromHeader,
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

export class OrderLine extends dto({ sku: string, quantity: int, unitPrice: decimal }) {}

export class PlaceOrder extends dto({
  customerId: routeParam(string),
  items: jsonField(list(OrderLine)),
  note: jsonField(optional(string)),
  channel: fromHeader(string, { name: 'X-Channel', required: false, fallback: false }),
  cart: fromHeader(string, { name: 'X-Cart', required: false, fallback: false }),
  rush: queryParam(bool, { default: false }),
}) {}

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

  router.post('/customers/:customerId/orders', idempotency(), bindRequest(PlaceOrder), place);

  // What the page calls when bindonce is switched off: the same handler runs for each request.
  const hidden = { openapi: { hidden: true } };
  router.post('/without/customers/:customerId/orders', bindRequest(PlaceOrder, hidden), async (req, res) => {
    const started = performance.now();
    await place(req, res);
    const durationMs = performance.now() - started;
    report('unguarded', { durationMs, handlerMs: durationMs });
  });

  router.get('/customers/:customerId/orders/:orderId', async (req, res) => {
    const order = (await ledger.all()).find(
      ({ orderId, customerId }) => orderId === req.params.orderId && customerId === req.params.customerId,
    );
    if (order) res.json(order);
    else res.sendStatus(404);
  });

  router.get('/orders', async (_req, res) => {
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
