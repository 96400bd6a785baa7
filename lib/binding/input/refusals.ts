import type { IncomingMessage } from 'node:http';
import { isPromise, type Awaitable } from '../../basics/awaitable';

/** Removes what was stored for a request. */
export type Discard = () => void | Promise<void>;

const waiting = new WeakMap<IncomingMessage, readonly Discard[]>();

/**
 * Calls `discard` if the request is refused, by this `bindRequest()` or a later one: files stored for it then have no
 * owner. Those of a request that is bound belong to its handler, if a Multer of the application has stored them.
 */
export function onRefusal(req: IncomingMessage, discard: Discard): void {
  waiting.set(req, [...(waiting.get(req) ?? []), discard]);
}

/** Discards the stored files of a request that is refused; those of bindonce are gone when a promise resolves. */
export function discardStored(req: IncomingMessage): Awaitable<void> {
  const discarding = (waiting.get(req) ?? []).map(discard => discard()).filter(isPromise);
  waiting.delete(req);
  if (discarding.length > 0) return Promise.allSettled(discarding).then(() => undefined);
}
