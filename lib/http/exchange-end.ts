import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { cameOverSocket } from './connection';
import { onConnectionClose } from './connection-close';

/** Responses whose handlers go on although their clients have left (`idempotency()`). */
export const withoutClient = new WeakSet<ServerResponse>();

/** Responses whose end `idempotency()` holds back until they are stored. */
export const withHeldEnd = new WeakSet<ServerResponse>();

/** Returns true if the response has ended, although its last bytes may still be held back. */
export function hasEnded(res: ServerResponse): boolean {
  return res.writableEnded || withHeldEnd.has(res);
}

/**
 * Returns true when no one can be answered any more: the response was sent or destroyed, or its client has
 * disconnected.
 */
export function isExchangeOver(req: IncomingMessage, res: ServerResponse): boolean {
  // `pipeline` sets the socket of a request that fails to null.
  if (res.destroyed) return true;
  return !res.socket && !withoutClient.has(res) && (req.socket as Socket | null)?.destroyed === true;
}

/**
 * Calls `then` once when the exchange is over: the response was sent or destroyed, or the client has disconnected.
 * Behind `idempotency()` an exchange is over when its run is, even if the client disconnects earlier. If it is over
 * already, `then` is called at once.
 * @returns a function that cancels the call.
 */
export function onExchangeEnd(req: IncomingMessage, res: ServerResponse, then: () => void): () => void {
  if (isExchangeOver(req, res)) {
    then();
    return () => undefined;
  }
  // The responses of an adapter may never emit `close`.
  const events = cameOverSocket(req) ? ['close'] : ['finish', 'close'];
  // Up to Node 22, a pipelined response that waits for its turn does not learn that its connection has closed.
  const isWaiting = !res.socket && !withoutClient.has(res) && cameOverSocket(req);
  const stopWatching = isWaiting ? onConnectionClose(req.socket, end) : () => undefined;
  function stop(): void {
    for (const event of events) res.removeListener(event, end);
    stopWatching();
  }
  function end(): void {
    stop();
    then();
  }
  for (const event of events) res.on(event, end);
  return stop;
}
