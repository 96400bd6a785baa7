import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { isKeyMissing } from './identity/key';
import type { ResolvedOptions } from './options';
import type { RequestIdempotency } from './start-handler';

const left = new WeakSet<object>();

/** True for a request that the options leave alone: by its method, or because it has no key. */
export function isExempt(req: IncomingMessage, { methods, whenKeyMissing, headerName }: ResolvedOptions): boolean {
  if (methods && !methods.includes(req.method ?? '')) return true;
  return whenKeyMissing === 'run' && isKeyMissing(req, headerName);
}

/** Gives a request that runs without a guard the `req.idempotency` that handlers expect. */
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

/** True when bindonce has not set this value of `req.idempotency`. */
export function isForeign(value: unknown): boolean {
  return Boolean(value) && !(typeof value === 'object' && value !== null && left.has(value));
}
