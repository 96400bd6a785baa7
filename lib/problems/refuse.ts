import type { IncomingMessage, ServerResponse } from 'node:http';
import { answer, type Answering, type Next } from './answer';

/**
 * Refuses a request before its handler has run, and answers it. Nothing has happened, so the idempotency key stays usable.
 * Only the middlewares that stand before the handler call this: an error that a handler throws is its response.
 */
export function refuse(error: unknown, req: IncomingMessage, res: ServerResponse, next: Next, answering?: Answering): void {
  freeKey(req);
  answer(error, req, res, next, answering);
}

/** Ends a request whose client has gone before its handler ran: nobody is answered, and a retry is a first request. */
export function abandon(req: IncomingMessage, res: ServerResponse): void {
  freeKey(req);
  res.destroy();
}

/** Another library may use the same name for something else. */
function freeKey(req: IncomingMessage): void {
  const { idempotency } = req as { idempotency?: { forget?: unknown } };
  if (typeof idempotency?.forget === 'function') (idempotency as { forget(): void }).forget();
}
