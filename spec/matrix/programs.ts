/** What the projects run: one keyed POST twice. The handler runs once, `req.dto` is right, and the second answer is a replay. */

const imports = `
import { deepEqual, equal } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import express from 'express';
import { bindRequest, bool, dto, field, idempotency, int, postgresStore, queryParam, routeParam, string } from 'bindonce';
`;

const check = `
async function check(options = {}) {
  let runs = 0;
  const app = express();
  app.post('/customers/:customerId/orders', idempotency({ storeTimeout: 20_000, ...options }), bindRequest(PlaceOrder), (req, res) => {
    const { customerId, sku, quantity, rush } = req.dto;
    res.status(201).json({ run: ++runs, customerId, sku, quantity, rush, isDto: req.dto instanceof PlaceOrder });
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = 'http://127.0.0.1:' + (typeof address === 'object' ? address?.port : address) + '/customers/42/orders?rush=true';
  const headers = { 'Idempotency-Key': randomUUID(), 'Content-Type': 'application/json' };
  const order = () => fetch(url, { method: 'POST', headers, body: '{"sku":"tea","quantity":2}' });
  const [first, again] = [await order(), await order()];
  const text = await first.text();
  deepEqual(JSON.parse(text), { run: 1, customerId: 42, sku: 'tea', quantity: 2, rush: true, isDto: true });
  equal(await again.text(), text);
  equal(again.headers.get('Idempotent-Replayed'), 'true');
  server.closeAllConnections();
  server.close();
}
`;

/** The last line of a program that is run as it is. */
const start = (options = ''): string => `check(${options}).then(() => { console.log('replayed'); process.exit(); });\n`;

const notations = {
  dto: 'class PlaceOrder extends dto({ customerId: routeParam(int), sku: string, quantity: int, rush: queryParam(bool, { default: false }) }) {}\n',
  decorators: `class PlaceOrder {
  @routeParam(int) customerId!: number;
  @field(string) sku!: string;
  @field(int) quantity!: number;
  @queryParam(bool) rush = false;
}
`,
};

export type Notation = keyof typeof notations;

/** In TypeScript, for tools that compile, bundle or run it. */
export const tsProgram = (notation: Notation): string => imports + notations[notation] + check + start();
export const testProgram = (notation: Notation): string =>
  `${imports}${notations[notation]}${check}it('is replayed', () => check());\n`;

export type Store = 'memory' | 'redis' | 'valkey' | 'postgres';

const stores: Readonly<Record<Store, readonly [imports: string, options: string]>> = {
  memory: ['', '{ store: new Keyv() }'],
  redis: ["import KeyvRedis from '@keyv/redis';\n", '{ store: new Keyv(new KeyvRedis(process.env.REDIS_URL)) }'],
  valkey: [
    "import KeyvValkey from '@keyv/valkey';\n",
    '{ store: new Keyv(new KeyvValkey(process.env.REDIS_URL, { useRedisSets: false })) }',
  ],
  postgres: [
    "import pg from 'pg';\n",
    '{ store: postgresStore(new pg.Pool({ connectionString: process.env.POSTGRES_URL })) }',
  ],
};

/** As an ES module without types. */
export function esModule(store: Store): string {
  const [storeImports, options] = stores[store];
  return `${imports}import { Keyv } from 'keyv';\n${storeImports}${notations.dto}${check}${start(options)}`;
}

/** The same for CommonJS. */
export function commonJs(store: Store): string {
  return esModule(store)
    .replaceAll(/^import (\{.*\}) from (.*);$/gm, 'const $1 = require($2);')
    .replaceAll(/^import (\w+) from ('@.*');$/gm, 'const { default: $1 } = require($2);')
    .replaceAll(/^import (\w+) from (.*);$/gm, 'const $1 = require($2);');
}
