import type { IncomingMessage } from 'node:http';

const waiting = new WeakMap<IncomingMessage, (() => void)[]>();

/** Calls `discard` if the request is refused: files stored for it then have no owner. */
export function onRefusal(req: IncomingMessage, discard: () => void): void {
  waiting.set(req, [...(waiting.get(req) ?? []), discard]);
}

/**
 * Keeps the stored files from now on: the request is bound. Files of bindonce are still removed when the exchange has
 * ended; those of a Multer of the application belong to the handler.
 */
export function keepStored(req: IncomingMessage): void {
  waiting.delete(req);
}

/** Discards the stored files: the request is refused. */
export function discardStored(req: IncomingMessage): void {
  for (const discard of waiting.get(req) ?? []) discard();
  waiting.delete(req);
}
