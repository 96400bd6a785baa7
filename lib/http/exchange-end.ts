import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** Responses whose handlers go on although their clients have left (`idempotency()`). */
export const withoutClient = new WeakSet<ServerResponse>();

/** Marks a response whose end `idempotency()` holds back until it is stored. (A WeakSet would take a microsecond.) */
export const HELD_END = Symbol('held end');

/** Returns true if the response has ended, although its last bytes may still be held back. */
export function hasEnded(res: ServerResponse & { readonly [HELD_END]?: true }): boolean {
  return res.writableEnded || res[HELD_END] === true;
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
 */
export function onExchangeEnd(req: IncomingMessage, res: ServerResponse, then: () => void): void {
  if (isExchangeOver(req, res)) {
    then();
    return;
  }
  // The responses of an adapter (of AWS Lambda, or of tests), which has no socket, may never emit `close`.
  const socket = req.socket instanceof Socket ? req.socket : undefined;
  const end = (): void => {
    res.removeListener('close', end).removeListener('finish', end);
    socket?.removeListener('close', end);
    then();
  };
  res.on('close', end);
  if (!socket) res.on('finish', end);
  // Up to Node 22, a pipelined response that waits for its turn does not learn that its connection has closed.
  else if (!res.socket && !withoutClient.has(res)) socket.on('close', end);
}

/** Closes a connection so that what was sent does not look whole. Only TCP connections can be reset. */
export function reset(socket: Socket): void {
  try {
    socket.resetAndDestroy();
  } catch {
    // Node refuses it for TLS and for Unix sockets.
    socket.destroy();
  }
}

/** The client disconnected before its request was complete, so there is no one to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection before the request was complete');
  }
}
