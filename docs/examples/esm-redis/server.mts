// Orders behind JSON Web Tokens, on a Redis that all processes of the service share. An ES module.
// npm install bindonce express express-jwt keyv@5 @keyv/redis
import type { AddressInfo } from 'node:net';
import KeyvRedis from '@keyv/redis';
import { configure, decimal, dto, field, fromClaim, int, list, problemDetails, routeParam, string } from 'bindonce';
import express from 'express';
import { expressjwt } from 'express-jwt';
import { Keyv } from 'keyv';

const { PORT = '3000', REDIS_URL = 'redis://localhost:6379', JWT_SECRET } = process.env;
if (!JWT_SECRET) throw new Error('Set JWT_SECRET to the secret that tokens are signed with.');

const store = new Keyv(new KeyvRedis(REDIS_URL), { namespace: 'orders' });
store.on('error', (error: Error) => {
  console.error(`Redis: ${error.message}`);
});

const { idempotency, bindRequest } = configure({
  idempotency: { store, cacheDuration: 24 * 60 * 60 * 1000, whenKeyReused: 'reject' },
  // What is ordered comes from the body alone: no query can change it.
  binding: { allowAnonymous: false, fieldSources: ['json'], fallback: false },
});

class OrderLine extends dto({ sku: string, quantity: int, unitPrice: decimal }) {}

class PlaceOrder extends dto({
  customerId: routeParam(int),
  items: field(list(OrderLine)),
  placedBy: fromClaim(string, { name: 'sub' }),
}) {}

const app = express();

let running = 0;
app.use((_req, res, next) => {
  running++;
  res.once('close', () => running--);
  next();
});

// Authentication first, then idempotency(), then bindRequest().
app.use(expressjwt({ secret: JWT_SECRET, algorithms: ['HS256'] }));

app.post('/customers/:customerId/orders', idempotency(), bindRequest(PlaceOrder), (req, res) => {
  const { customerId, items, placedBy } = req.dto;
  res.status(201).json({ orderId: crypto.randomUUID(), customerId, placedBy, lines: items.length });
});

app.use(problemDetails());

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

// Handlers whose client has left are waited for, too; then the connection closes.
let isStopping = false;
function stop(): void {
  // npm passes a Ctrl+C on, so it arrives twice.
  if (isStopping) return;
  isStopping = true;
  server.close();
  const end = setInterval(() => {
    if (running > 0) return;
    clearInterval(end);
    void store.disconnect();
  }, 50);
  // The platform must wait for longer before it kills the process: `kill_timeout` of PM2 is 1.6 s by default.
  setTimeout(() => process.exit(1), 10_000).unref();
}
// PM2 and Ctrl+C send SIGINT.
process.on('SIGTERM', stop).on('SIGINT', stop);
