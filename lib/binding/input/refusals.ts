import type { IncomingMessage } from 'node:http';

const waiting = new WeakMap<IncomingMessage, (() => void)[]>();

/** Calls `discard` if the request is refused: files stored for it then have no owner. */
export function onRefusal(req: IncomingMessage, discard: () => void): void {
  waiting.set(req, [...(waiting.get(req) ?? []), discard]);
}

/** Keeps the stored files: the request is bound, and its handler owns them. */
export function keepStored(req: IncomingMessage): void {
  waiting.delete(req);
}

/** Discards the stored files: the request is refused. */
export function discardStored(req: IncomingMessage): void {
  for (const discard of waiting.get(req) ?? []) discard();
  waiting.delete(req);
}
