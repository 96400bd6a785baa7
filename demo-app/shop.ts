import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { apiDocs, configure, operate, problemDetails, type IdempotencyOptions } from 'bindonce';
import express, { type Express } from 'express';
import { registerContexts } from './contexts';
import { documents } from './documents';
import { environment } from './environment';
import { Feed } from './feed';
import { greeting } from './greeting';
import { tell } from './messages';
import { orders } from './orders';
import { page } from './page';
import { followed, processNumber, report } from './requests';
import { stopOnSignals } from './stop';
import { storageAt, type Storage } from './storage';

/** One process of the shop: answers on the connections that the server passes to it. */
function main(): void {
  const settings = environment(process.env);
  const storage = storageAt(settings);
  const feed = new Feed(storage.name);
  const server = createServer(shop(storage, feed, settings.leaseDuration));
  stopOnSignals(server, storage, feed);
  process.on('message', (_message, socket?: Socket) => {
    if (!socket) return;
    server.emit('connection', socket);
    socket.resume();
  });
  // The process that passes connections has ended.
  process.once('disconnect', () => process.exit());
  tell({ kind: 'process-started', at: Date.now(), process: processNumber });
  storage.open();
}

function shop(storage: Storage, feed: Feed, leaseDuration: number): Express {
  const app = express();
  app.use(page());
  app.get('/', (req, res) => {
    res.type('text').send(greeting(`http://${req.get('Host') ?? 'localhost'}`, storage.name));
  });
  app.get('/demo/events', (_req, res) => feed.follow(res));
  app.post('/demo/crash', (_req, res) => {
    res.sendStatus(202);
    tell({ kind: 'crash' });
  });

  const configured = configure({
    idempotency: idempotencyOptions(storage, leaseDuration),
    binding: registerContexts(),
  });
  app.use(['/customers', '/without/customers'], followed);
  app.use(orders(configured, storage.ledger('orders')), documents(configured, storage.ledger('documents')));
  // A real shop lets its operators in only.
  app.use('/operate', operate(configured.idempotency(), { allow: () => true }));
  app.use('/docs', apiDocs(app, { info: { title: 'Demo shop', version: '1.0.0', description: DESCRIPTION } }));
  app.use(problemDetails());
  return app;
}

const DESCRIPTION =
  'Each POST runs once for a key. Open one, **Try it out**, **Execute**, and send it again with the same key. ' +
  'See also [the shop](../) and [the page for its operators](../operate/).';

function idempotencyOptions({ store }: Storage, leaseDuration: number): IdempotencyOptions {
  return {
    ...(store && { store }),
    // As long as the page keeps a key.
    cacheDuration: 24 * 60 * 60 * 1000,
    whenKeyReused: 'reject',
    leaseDuration,
    onEvent: ({ kind, key, durationMs, handlerMs }) => report(kind, { key, durationMs, handlerMs }),
  };
}

main();
