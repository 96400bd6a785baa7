import type { IncomingMessage } from 'node:http';

const waiting = new WeakMap<IncomingMessage, (() => void)[]>();

/** Calls `discard` when the request cannot be bound: what was stored for it has no owner then. */
export function onRefusal(req: IncomingMessage, discard: () => void): void {
  waiting.set(req, [...(waiting.get(req) ?? []), discard]);
}

/** The request is bound; what was stored for it is its handler's. */
export function keepStored(req: IncomingMessage): void {
  waiting.delete(req);
}

/** The request is refused. */
export function discardStored(req: IncomingMessage): void {
  for (const discard of waiting.get(req) ?? []) discard();
  waiting.delete(req);
}
