import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { configure, problemDetails } from 'bindonce';
import express from 'express';
import { documents } from './documents';
import { orders } from './orders';
import { openStorage } from './storage';

const { PORT = '3000', HOST = '127.0.0.1', REDIS_URL } = process.env;

async function main(): Promise<void> {
  const storage = openStorage(REDIS_URL);
  const configured = configure({ idempotency: storage.responses ? { store: storage.responses } : {} });
  const app = express();
  app.use(orders(configured, storage.ledger('orders')), documents(configured, storage.ledger('documents')), problemDetails());

  const server = createServer(app).listen(Number(PORT), HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  greet(`http://${HOST}:${port}`);

  const stop = (): void => {
    // Requests that have begun are finished and answered; then their connections close, and the process ends by itself.
    server.keepAliveTimeout = 1;
    server.close(() => { void storage.close(); });
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

function greet(url: string): void {
  console.log(`The shop is open at ${url} (${REDIS_URL ? 'Redis' : 'memory'}). Place the same order twice, and see it placed once:

  curl -i ${url}/customers/42/orders -H 'Content-Type: application/json' -H 'Idempotency-Key: my-first-order' -d '{"items":[{"sku":"tea","quantity":2,"unitPrice":4.50}]}'
  curl -i ${url}/customers/42/documents -H 'Idempotency-Key: my-first-document' -F title=Invoice -F file=@package.json
  curl ${url}/orders
`);
}

main().catch((error: unknown) => {
  console.error(`The shop could not open: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
