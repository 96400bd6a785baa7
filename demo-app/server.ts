import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiDocs, configure, problemDetails } from 'bindonce';
import express from 'express';
import { documents } from './documents';
import { environment, listenFailure } from './environment';
import { orders } from './orders';
import { stopOnSignals } from './stop';
import { storageAt, type Storage } from './storage';

async function main(): Promise<void> {
  const settings = environment(process.env);
  const storage = storageAt(settings.redisUrl);
  const configured = configure({ idempotency: storage.responses ? { store: storage.responses } : {} });
  const app = express();
  app.get('/', (req, res) => {
    res.type('text').send(greeting(`http://${req.get('Host') ?? settings.host}`, storage));
  });
  app.use(orders(configured, storage.ledger('orders')), documents(configured, storage.ledger('documents')));
  app.use('/docs', apiDocs(app, { info: { title: 'Demo shop', version: '1.0.0' } }));
  app.use(problemDetails());

  const server = createServer(app).listen(settings.port, settings.host);
  await once(server, 'listening').catch((error: unknown) => {
    throw listenFailure(settings, error);
  });
  stopOnSignals(server, storage);
  const { port } = server.address() as AddressInfo;
  console.log(greeting(`http://${settings.host}:${port}`, storage));
  storage.open();
}

/** Returns commands to try: the same order twice, a document, the list of orders. */
function greeting(url: string, { name }: Storage): string {
  const order = '{"items":[{"sku":"tea","quantity":2,"unitPrice":4.50}]}';
  const json = `-H 'Content-Type: application/json' -d '${order}'`;
  return `The shop is open at ${url} (${name}). Send the same order twice; it is placed once:

  curl -i ${url}/customers/42/orders -H 'Idempotency-Key: my-first-order' ${json}
  curl -i ${url}/customers/42/documents -H 'Idempotency-Key: my-first-document' -F title=Invoice -F file=@package.json
  curl ${url}/orders

The API, to try it in a browser: ${url}/docs
`;
}

main().catch((error: unknown) => {
  console.error(`The shop could not open: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
