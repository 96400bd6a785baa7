/**
 * A server process of the storm. It writes down when its handler starts and ends, what the library tells it, and when it
 * did not get to run. It listens on PORT and ends well on SIGTERM.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as work } from 'node:timers/promises';
import type { idempotency as idempotencyOfTheLibrary } from '../../lib';
import express, { type NextFunction, type Request, type Response } from 'express';
import { connectTo, type Library, type StoreKind } from './connection';
import { Journal } from './journal';
import { watchForStalls } from './stalls';

const {
  PORT = '',
  JOURNAL = '',
  STORE_KIND = '',
  STORE_URL = '',
  EXACTLY_ONCE = '',
  OPTIONS = '{}',
  LIBRARY = 'bindonce',
} = process.env;
const journal = new Journal(JOURNAL);
const { pid } = process;
for (const event of ['unhandledRejection', 'uncaughtException'])
  process.on(event, (error: unknown) => {
    journal.write({ what: 'breach', detail: `${event}: ${error instanceof Error ? error.stack : String(error)}` });
  });

watchForStalls(ms => {
  journal.write({ what: 'stalled', pid, ms });
});

/** Names requests. (Not by an AsyncLocalStorage: a lost lease is found by the timer of another request.) */
const names = new WeakMap<object, string>();
const nameOf = (req: object): string => names.get(req) ?? 'none';

/** Runs whose response is not yet stored: their clients may be gone, and then no connection keeps the process from ending. */
const running = new Set<string>();
const ENDS: readonly string[] = ['executed', 'not-stored', 'forgotten', 'lease-lost'];

async function serve(): Promise<void> {
  const library = (await import(LIBRARY)) as Library & { idempotency: typeof idempotencyOfTheLibrary };
  const connection = connectTo(STORE_KIND as StoreKind, STORE_URL, library);
  const guard = library.idempotency({
    ...connection.options,
    ...(JSON.parse(OPTIONS) as object),
    scope: req => req.get('X-Customer'),
    onEvent: ({ kind, cacheKey, error }, req) => {
      connection.told?.(error !== undefined);
      journal.write({ what: 'told', pid, request: nameOf(req), cacheKey, kind });
      if (ENDS.includes(kind)) running.delete(cacheKey);
    },
  });

  const app = express();
  app.use((req, _res, next) => {
    names.set(req, randomUUID());
    next();
  });
  app.post('/orders', guard, async (req, res) => {
    const key = String(req.get('X-Identity'));
    const execution = { pid, request: nameOf(req), key, cacheKey: req.idempotency.cacheKey, run: randomUUID() };
    journal.write({ what: 'started', ...execution });
    running.add(execution.cacheKey);
    req.idempotency.signal.addEventListener('abort', () => {
      journal.write({ what: 'told', ...execution, kind: 'aborted' });
    });
    const { orders } = connection;
    if (EXACTLY_ONCE && orders)
      return req.idempotency.commitWith(orders, async tx => {
        await tx.query('INSERT INTO orders (key, run) VALUES ($1, $2)', [key, execution.run]);
        await work(Number(req.get('X-Work')));
        journal.write({ what: 'ended', ...execution });
        res
          .status(201)
          .set('X-Run', execution.run)
          .json({ key, lines: 'tea '.repeat(Number(req.get('X-Lines'))) });
      });
    await work(Number(req.get('X-Work')));
    journal.write({ what: 'ended', ...execution });
    const order = { key, run: execution.run, lines: 'tea '.repeat(Number(req.get('X-Lines'))) };
    res.status(201).set('X-Run', execution.run).append('Set-Cookie', ['a=1', 'b=2']);
    if (req.get('X-Chunked')) {
      res.statusMessage = 'Ordered';
      res.set('Trailer', 'X-End');
      res.write(JSON.stringify(order).slice(0, 20));
      res.addTrailers({ 'X-End': execution.run });
      res.end(JSON.stringify(order).slice(20));
    } else res.json(order);
  });
  app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
    // Nothing was committed: the client may send it again.
    if (EXACTLY_ONCE && !res.headersSent) res.status(503).end();
    else next(error);
  });

  const server = app.listen(Number(PORT), '127.0.0.1', () => {
    process.send?.('listening');
  });
  process.on('disconnect', () => process.exit(1));
  process.on('SIGTERM', () => {
    const closed = once(server.close(), 'close');
    // Connections that clients keep alive would keep it from ending.
    const closing = setInterval(() => {
      server.closeIdleConnections();
    }, 20);
    void closed.then(async () => {
      clearInterval(closing);
      while (running.size > 0) await work(10);
      // It says goodbye to the store, which may be out of reach.
      await Promise.race([connection.close(), work(500)]);
      process.exit(0);
    });
  });
}

void serve();
