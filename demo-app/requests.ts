import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { tell, type RequestEvent } from './messages';

type RequestFacts = Pick<RequestEvent, 'request' | 'path' | 'cart'>;

/** The number of this process; see `processes.ts`. */
export const processNumber = Number(process.argv[2]);
const current = new AsyncLocalStorage<RequestFacts>();

/**
 * Middleware: keeps the facts of the request at hand for its events, and tells the client which process answers. It is
 * mounted before `idempotency()`, so a replay tells who replays, and not who ran the handler.
 */
export function followed(req: Request, res: Response, next: NextFunction): void {
  res.set('X-Served-By', `process ${processNumber}`);
  const request = req.get('X-Request-Id') ?? randomUUID();
  current.run({ request, path: req.originalUrl, cart: req.get('X-Cart') }, next);
}

/** Adds an event of the request at hand to the timeline. */
export function report(kind: RequestEvent['kind'], details: Partial<RequestEvent> = {}): void {
  const facts = current.getStore();
  if (facts) tell({ kind, at: Date.now(), process: processNumber, ...facts, ...details });
}
