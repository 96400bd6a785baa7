import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { steps } from '../basics/steps';
import { cameOverSocket } from './connection';
import { onConnectionClose } from './connection-close';

const watched = new WeakSet<ServerResponse>();

/**
 * Returns true when no one can be answered any more: the response was sent or destroyed, or its client has
 * disconnected.
 */
export function isExchangeOver(req: IncomingMessage, res: ServerResponse): boolean {
  // `pipeline` sets the socket of a request that fails to null.
  return res.destroyed || (!res.socket && (req.socket as Socket | null)?.destroyed === true);
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
  watchConnection(req, res);
  // The responses of an adapter may never emit `close`.
  const events = cameOverSocket(req) ? ['close'] : ['finish', 'close'];
  const stop = (): void => {
    for (const event of events) res.removeListener(event, end);
  };
  const end = (): void => {
    stop();
    then();
  };
  for (const event of events) res.on(event, end);
  return stop;
}

/**
 * Makes a pipelined response emit `close` when its connection closes, also if it has been destroyed before. Up to Node
 * 22, a response that waits for its turn on the connection does not learn of that by itself.
 */
export function watchConnection(req: IncomingMessage, res: ServerResponse): void {
  if (res.socket || watched.has(res)) return;
  watched.add(res);
  let hasClosed = false;
  const stop = onConnectionClose(req.socket, () => {
    if (!res.destroyed) res.emit('close');
    // A destroyed one may emit it by itself, in a later tick (from Node 24 on), or never.
    else
      steps.setImmediate(() => {
        if (!hasClosed) res.emit('close');
      });
  });
  res.once('close', () => {
    hasClosed = true;
    stop();
  });
  // Once its turn has come, node emits `close`.
  res.once('socket', stop);
}
