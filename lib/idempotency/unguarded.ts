import type { IncomingMessage } from 'node:http';
import { isKeyMissing } from './identity/key';
import type { ResolvedOptions } from './options/resolved-options';
import type { RequestIdempotency } from './run/request-idempotency';

/** Shared by all copies of this module in the process: one may leave a request alone that another guards. */
const UNGUARDED = Symbol.for('bindonce.unguarded');

/** The `req.idempotency` of a request that runs without a guard: handlers expect one. */
class Unguarded implements RequestIdempotency {
  readonly [UNGUARDED] = true;
  /** Never aborts. */
  declare readonly signal: AbortSignal;

  constructor(
    readonly key: string,
    readonly cacheKey: string,
  ) {
    let signal: AbortSignal | undefined;
    // Made when it is first asked for: that takes 5 µs.
    const made = (): AbortSignal => (signal ??= new AbortController().signal);
    Object.defineProperty(this, 'signal', { get: made, enumerable: true });
  }

  readonly forget = (): void => {
    // Nothing is kept.
  };
}

/** Returns true for a request that is not guarded, because of its method or because it has no key. */
export function isExempt(req: IncomingMessage, { methods, whenKeyMissing, headerName }: ResolvedOptions): boolean {
  if (methods && !methods.includes(req.method ?? '')) return true;
  return whenKeyMissing === 'run' && isKeyMissing(req, headerName);
}

/** Sets the `req.idempotency` of a request that runs without a guard. */
export function leaveUnguarded(req: IncomingMessage, key = '', cacheKey = ''): void {
  const guarded = req as { idempotency?: unknown };
  if (!guarded.idempotency) guarded.idempotency = new Unguarded(key, cacheKey);
}

/** Returns true when something other than bindonce has set this value of `req.idempotency`. */
export function isSetByOthers(value: unknown): boolean {
  return Boolean(value) && !(typeof value === 'object' && value !== null && UNGUARDED in value);
}
