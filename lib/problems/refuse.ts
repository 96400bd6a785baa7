import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Next } from '../http/next';
import { answer, type Answering } from './answer';

/** Shared by every copy of this module in the process. */
const LISTENER = Symbol.for('bindonce.refusal');

type Listener = (reason: unknown) => void;

interface WithListener {
  [LISTENER]?: Listener;
}

/** Calls `listener` when a later middleware refuses the request before its handler has run. */
export function onRefusal(req: IncomingMessage, listener: Listener): void {
  (req as WithListener)[LISTENER] = listener;
}

/**
 * Refuses a request before its handler has run, and answers it. The handler has done nothing, so the idempotency key
 * stays usable. Only middlewares in front of the handler call this: an error that a handler throws is its response.
 */
export function refuse(
  error: unknown,
  req: IncomingMessage,
  res: ServerResponse,
  next: Next,
  answering?: Answering,
): void {
  (req as WithListener)[LISTENER]?.(error);
  answer(error, req, res, next, answering);
}

/** Ends a request whose client disconnected before its handler ran. It is not answered; a retry is a first request. */
export function abandon(reason: unknown, req: IncomingMessage, res: ServerResponse): void {
  (req as WithListener)[LISTENER]?.(reason);
  res.destroy();
}
