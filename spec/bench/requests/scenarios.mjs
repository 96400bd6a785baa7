import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';
import KeyvRedis from '@keyv/redis';
import {
  bindRequest,
  bool,
  dateTime,
  double,
  dto,
  enumOf,
  fromHeader,
  guid,
  idempotency,
  int,
  list,
  optional,
  queryParam,
  routeParam,
  string,
} from 'bindonce';
import express from 'express';
import { Keyv } from 'keyv';
import { z } from 'zod';

/** Packages that only the benchmark needs; `npm run bench` installs them. */
const peer = createRequire(new URL('../peers/package.json', import.meta.url));

const json = express.json();
const withKey = (key = randomUUID()) => ({ 'Content-Type': 'application/json', 'Idempotency-Key': key });

/** An app with one route. */
const at = (path, ...handlers) =>
  express()
    .disable('x-powered-by')
    .post(path, ...handlers);

const redisStore = () => new Keyv(new KeyvRedis(process.env.REDIS_URL), { namespace: 'bench' });

/** 190 bytes. */
const payment = JSON.stringify({
  account: 'DE89370400440532013000',
  amount: 4250,
  currency: 'EUR',
  reference: 'Invoice 2026-0417, two chairs and a table',
  recipient: 'Someone Example',
  note: 'second floor, please ring twice',
});

const pay = (req, res) => {
  res.status(201).json({ id: 'p-1', amount: req.body.amount, currency: req.body.currency, status: 'accepted' });
};

/** node-idempotency has no Express middleware: its steps, and what is needed to hand them the response of Express. */
function nodeIdempotency() {
  const { Idempotency } = peer('@node-idempotency/core');
  const { MemoryStorageAdapter } = peer('@node-idempotency/storage-adapter-memory');
  const guard = new Idempotency(new MemoryStorageAdapter(), { enforceIdempotency: true });
  return async (req, res, next) => {
    const { headers, path, body, method } = req;
    const asked = { headers: { ...headers, 'Idempotency-Key': headers['idempotency-key'] }, path, body, method };
    const stored = await guard.onRequest(asked);
    if (stored) {
      res.status(stored.additional.status).set('Content-Type', stored.additional.type).send(stored.body);
      return;
    }
    const send = res.send.bind(res);
    res.send = text => {
      // It answers before it has stored: the promise is not waited for.
      if (typeof text === 'string')
        void guard.onResponse(asked, {
          body: text,
          additional: { status: res.statusCode, type: res.get('Content-Type') },
        });
      return send(text);
    };
    next();
  };
}

function expressIdempotency() {
  const { idempotency: guard, getSharedIdempotencyService } = peer('express-idempotency');
  const middleware = guard();
  return [
    middleware,
    (req, res, next) => {
      if (!getSharedIdempotencyService().isHit(req)) next();
    },
  ];
}

const items = Array.from({ length: 20 }, (_, index) => ({
  sku: `sku-${index}`,
  quantity: index + 1,
  unitPrice: 4.5 + index,
}));
const order = JSON.stringify({ currency: 'EUR', placedAt: '2026-11-21T08:30:00.000Z', gift: false, items });
const orderPath = '/customers/0f8fad5b-d9cb-469f-a165-70867728950e/orders?priority=3&rush=true&discount=0.05';
const orderHeaders = () => ({ ...withKey(), 'X-Channel': 'web', 'X-Note': 'second floor' });
const currencies = ['EUR', 'USD', 'GBP'];
const route = '/customers/:customerId/orders';

const placed = (res, { currency, customerId, items: lines }) => {
  res.status(201).json({ customerId, currency, lines: lines.length });
};

class Line extends dto({ sku: string, quantity: int, unitPrice: double }) {}
class Order extends dto({
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

const zodOrder = z.object({
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
    items: z.array(z.object({ sku: z.string(), quantity: z.int32(), unitPrice: z.number() })).max(10_000),
  }),
});

function zodMiddleware(req, _res, next) {
  const { params, query, headers, body } = zodOrder.parse(req);
  req.dto = { ...params, ...query, channel: headers['x-channel'], note: headers['x-note'], ...body };
  next();
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function byHand({ params, query, headers, body }) {
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
  check('items', Array.isArray(body.items) && body.items.length <= 10_000);
  const lines = (Array.isArray(body.items) ? body.items : []).map((line, index) => {
    check(`items[${index}].sku`, typeof line?.sku === 'string');
    check(`items[${index}].quantity`, Number.isInteger(line?.quantity));
    check(`items[${index}].unitPrice`, Number.isFinite(line?.unitPrice));
    return { sku: line?.sku, quantity: line?.quantity, unitPrice: line?.unitPrice };
  });
  if (failures.length > 0) throw new Error(failures.join());
  const { currency, gift } = body;
  const [customerId, rush] = [params.customerId.toLowerCase(), query.rush === 'true'];
  return {
    customerId,
    priority,
    rush,
    discount,
    channel: headers['x-channel'],
    note: headers['x-note'],
    currency,
    placedAt,
    gift,
    items: lines,
  };
}

/**
 * What is compared. Each subject is measured between two measurements of the scenario's bare handler.
 * - `requests`: those of a number; `replays`: all with one key, which the server has answered before.
 * - `redis`: the server needs REDIS_URL.
 */
export const scenarios = {
  idempotency: {
    title: 'A payment (JSON, 190 bytes), which runs once',
    status: 201,
    request: key => ({ headers: withKey(key), body: payment }),
    subjects: {
      bare: { app: () => at('/', json, pay) },
      'idempotency() behind express.json()': { app: () => at('/', json, idempotency(), pay) },
      'idempotency() before express.json()': { app: () => at('/', idempotency(), json, pay) },
      'idempotency() on Redis': { redis: true, app: () => at('/', json, idempotency({ store: redisStore() }), pay) },
      'idempotency(), replay, behind express.json()': { replays: true, app: () => at('/', json, idempotency(), pay) },
      'idempotency(), replay, before express.json()': { replays: true, app: () => at('/', idempotency(), json, pay) },
      'idempotency() on Redis, replay': {
        redis: true,
        replays: true,
        app: () => at('/', json, idempotency({ store: redisStore() }), pay),
      },
      'node-idempotency': { app: () => at('/', json, nodeIdempotency(), pay) },
      'node-idempotency, replay': { replays: true, app: () => at('/', json, nodeIdempotency(), pay) },
      'express-idempotency': { app: () => at('/', json, ...expressIdempotency(), pay) },
      'express-idempotency, replay': { replays: true, app: () => at('/', json, ...expressIdempotency(), pay) },
    },
  },
  binding: {
    title:
      'An order of ten properties: one of the route, three of the query, two headers, four of the body, with 20 items',
    status: 201,
    request: () => ({ path: orderPath, headers: orderHeaders(), body: order }),
    subjects: {
      bare: { app: () => at(route, json, (req, res) => placed(res, { ...req.params, ...req.body })) },
      'by hand': { app: () => at(route, json, (req, res) => placed(res, byHand(req))) },
      'bindRequest(Dto)': { app: () => at(route, bindRequest(Order), (req, res) => placed(res, req.dto)) },
      'bindRequest(Dto) behind express.json()': {
        app: () => at(route, json, bindRequest(Order), (req, res) => placed(res, req.dto)),
      },
      'zod 4': { app: () => at(route, json, zodMiddleware, (req, res) => placed(res, req.dto)) },
      'idempotency() and bindRequest(Dto)': {
        app: () => at(route, idempotency(), bindRequest(Order), (req, res) => placed(res, req.dto)),
      },
    },
  },
};
