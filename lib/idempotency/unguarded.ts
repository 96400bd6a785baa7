import type { IncomingMessage } from 'node:http';
import { Reporter } from './exchange/reporter';
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

/**
 * Lets a request through that is not to be guarded, because of its method or because it has no key.
 * @returns whether it is one.
 */
export function letThrough(req: IncomingMessage, options: ResolvedOptions): boolean {
  const { methods, whenKeyMissing, headerName, onEvent } = options;
  const isOther = methods !== undefined && !methods.includes(req.method ?? '');
  if (!isOther && !(whenKeyMissing === 'run' && isKeyMissing(req, headerName))) return false;
  const isFirst = leaveUnguarded(req);
  if (isFirst && !isOther) new Reporter(onEvent, req).reportUnguarded();
  return true;
}

/** Sets the `req.idempotency` of a request that runs without a guard. @returns false if it is set already. */
export function leaveUnguarded(req: IncomingMessage, key = '', cacheKey = ''): boolean {
  const guarded = req as { idempotency?: unknown };
  if (guarded.idempotency) return false;
  guarded.idempotency = new Unguarded(key, cacheKey);
  return true;
}

/** Returns true when something other than bindonce has set this value of `req.idempotency`. */
export function isSetByOthers(value: unknown): boolean {
  return Boolean(value) && !(typeof value === 'object' && value !== null && UNGUARDED in value);
}
