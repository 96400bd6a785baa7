import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Next } from '../http/express';
import { answerWith, type Answering } from './answer';

/**
 * The method of a `req.idempotency` that is called when a later middleware refuses the request before its handler has
 * run. Shared by every copy of this module in the process.
 */
export const REFUSED = Symbol.for('bindonce.refused');

interface Listener {
  [REFUSED](reason: unknown): void;
}

/**
 * Refuses a request before its handler has run, and answers it. The handler has done nothing, so the idempotency key
 * stays usable. Not for an error that a handler throws: that is its response. (When an earlier middleware throws at the
 * end of a response, `idempotency()` calls this, too. The run is over then, and its listener has no effect.)
 */
export function refuse(
  error: unknown,
  req: IncomingMessage,
  res: ServerResponse,
  next: Next,
  answering?: Answering,
): void {
  tellListener(req, error);
  answerWith(error, req, res, next, answering);
}

/** Ends a request whose client disconnected before its handler ran. It is not answered; a retry is a first request. */
export function abandon(reason: unknown, req: IncomingMessage, res: ServerResponse): void {
  tellListener(req, reason);
  res.destroy();
}

function tellListener(req: IncomingMessage, reason: unknown): void {
  const { idempotency: listener } = req as { idempotency?: unknown };
  if (typeof listener === 'object' && listener !== null && REFUSED in listener) (listener as Listener)[REFUSED](reason);
}
