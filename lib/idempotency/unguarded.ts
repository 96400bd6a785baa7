import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { isKeyMissing } from './identity/key';
import type { ResolvedOptions } from './options';
import type { RequestIdempotency } from './start-handler';

/** The values of `req.idempotency` that bindonce has set on requests without a guard. */
const left = new WeakSet<object>();

/** Returns true for a request that is not guarded, because of its method or because it has no key. */
export function isExempt(req: IncomingMessage, { methods, whenKeyMissing, headerName }: ResolvedOptions): boolean {
  if (methods && !methods.includes(req.method ?? '')) return true;
  return whenKeyMissing === 'run' && isKeyMissing(req, headerName);
}

/** Sets the `req.idempotency` that handlers expect on a request that runs without a guard. */
export function leaveUnguarded(req: IncomingMessage, key = '', cacheKey = ''): void {
  if ((req as Partial<Request>).idempotency) return;
  const nothing: RequestIdempotency = {
    key,
    cacheKey,
    signal: new AbortController().signal,
    forget() {
      /* nothing is kept */
    },
  };
  left.add(nothing);
  Object.assign(req, { idempotency: nothing });
}

/** Returns true when something other than bindonce has set this value of `req.idempotency`. */
export function isForeign(value: unknown): boolean {
  return Boolean(value) && !(typeof value === 'object' && value !== null && left.has(value));
}
