import type { IncomingMessage } from 'node:http';

const waiting = new WeakMap<IncomingMessage, (() => void)[]>();

/**
 * Calls `discard` if the request is refused, by this `bindRequest()` or a later one: files stored for it then have no
 * owner. Those of a request that is bound belong to its handler, if a Multer of the application has stored them.
 */
export function onRefusal(req: IncomingMessage, discard: () => void): void {
  waiting.set(req, [...(waiting.get(req) ?? []), discard]);
}

/** Discards the stored files: the request is refused. */
export function discardStored(req: IncomingMessage): void {
  for (const discard of waiting.get(req) ?? []) discard();
  waiting.delete(req);
}
