/**
 * What is compared. Each subject is measured between two measurements of the scenario's bare handler.
 * - `request`: makes one; `status`: what it is answered with; `invalid`: requests that every subject but the bare
 *   handler must refuse.
 * - `app`: makes what listens; `replays`: all requests have one key, which the server has answered before.
 *
 * The modules of `../peers` are imported by their subjects: only `npm run bench` installs what they need.
 */
import KeyvRedis from '@keyv/redis';
import { bindRequest, idempotency } from 'bindonce';
import express from 'express';
import { Keyv } from 'keyv';
import { jsonHeaders } from './load.mjs';
import { checkByHand, Order, zodOrder } from './order-checks.mjs';
import { answerTo, invalidOrders, route, validOrder } from './order.mjs';
import { pay, payment } from './payment.mjs';

const json = express.json();

/** An app with one route. */
const at = (path, ...handlers) =>
  express()
    .disable('x-powered-by')
    .post(path, ...handlers);

const redisStore = () => new Keyv(new KeyvRedis(process.env.REDIS_URL), { namespace: 'bench' });

const place = (req, res) => {
  res.status(201).json(answerTo(req.dto));
};

const placeUnchecked = ({ params, body }, res) => {
  res.status(201).json(answerTo({ ...params, ...body }));
};

function placeByHand(req, res) {
  const { failures, order } = checkByHand(req);
  if (failures.length > 0) res.status(400).json({ failures });
  else res.status(201).json(answerTo(order));
}

function parseWithZod(req, res, next) {
  const { error, data } = zodOrder.safeParse(req);
  if (error) {
    res.status(400).json({ issues: error.issues });
    return;
  }
  const { params, query, headers, body } = data;
  req.dto = { ...params, ...query, channel: headers['x-channel'], note: headers['x-note'], ...body };
  next();
}

async function withNodeIdempotency() {
  const { nodeIdempotency } = await import('../peers/node-idempotency.mjs');
  return at('/', json, nodeIdempotency(), pay);
}

export const scenarios = {
  idempotency: {
    title: 'A payment (JSON, 190 bytes), which runs once',
    status: 201,
    request: key => ({ headers: jsonHeaders(key), body: payment }),
    subjects: {
      bare: { app: () => at('/', json, pay) },
      'idempotency() behind express.json()': { app: () => at('/', json, idempotency(), pay) },
      'idempotency() before express.json()': { app: () => at('/', idempotency(), json, pay) },
      'idempotency() on Redis': { app: () => at('/', json, idempotency({ store: redisStore() }), pay) },
      'idempotency(), replay, behind express.json()': { replays: true, app: () => at('/', json, idempotency(), pay) },
      'idempotency(), replay, before express.json()': { replays: true, app: () => at('/', idempotency(), json, pay) },
      'idempotency() on Redis, replay': {
        replays: true,
        app: () => at('/', json, idempotency({ store: redisStore() }), pay),
      },
      // As used here, it replays texts with status and content type, and answers before it has stored.
      'node-idempotency': { app: withNodeIdempotency },
      'node-idempotency, replay': { replays: true, app: withNodeIdempotency },
    },
  },
  binding: {
    title:
      'An order of ten properties: one of the route, three of the query, two headers, four of the body, with 20 items',
    status: 201,
    request: validOrder,
    invalid: invalidOrders,
    subjects: {
      bare: { app: () => at(route, json, placeUnchecked) },
      'by hand': { app: () => at(route, json, placeByHand) },
      'bindRequest(Dto)': { app: () => at(route, bindRequest(Order), place) },
      'bindRequest(Dto) behind express.json()': { app: () => at(route, json, bindRequest(Order), place) },
      'zod 4': { app: () => at(route, json, parseWithZod, place) },
      'NestJS, ValidationPipe with class-validator': {
        app: async () => (await import('../peers/nest.mjs')).nestWithClasses(),
      },
      'idempotency() and bindRequest(Dto)': { app: () => at(route, idempotency(), bindRequest(Order), place) },
    },
  },
};
