import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { ResolvedOptions } from './options/resolved-options';
import { Reporter } from './exchange/reporter';
import { isKeyMissing } from './identity/key';
import { commitUnguarded, derivedKey } from './run/commit-with';
import type { TransactionAdapter } from './stores/transactions';
import type { RequestIdempotency } from './run/request-idempotency';

/** Shared by all copies of this module in the process, since they guard the same requests. */
const GUARD = Symbol.for('bindonce.guard');

/**
 * Marks a request as guarded with these options.
 * @returns false when it is guarded with the same options already: mounted for the application and for a route, the
 * second guard would wait for the first.
 * @throws Error when it is guarded with other options, which would silently be ignored, or when something else has set
 * `req.idempotency`.
 */
export function mark(req: IncomingMessage, options: ResolvedOptions): boolean {
  const marked = req as IncomingMessage & { [GUARD]?: ResolvedOptions };
  const { [GUARD]: first } = marked;
  if (first) {
    const names = differences(first, options);
    if (names.length === 0) return false;
    throw new Error(
      `idempotency: two idempotency() with different options (${names.join(', ')}) are mounted for this request, and ` +
        'the second would have no effect. Mount one of them, or give both the same options.',
    );
  }
  if (isSetByOthers((req as Partial<Request>).idempotency)) {
    throw new Error(
      'idempotency: something other than bindonce has set req.idempotency. Remove it, or keep its value under ' +
        'another name.',
    );
  }
  marked[GUARD] = options;
  return true;
}

/** Checks that the response can be recorded: one of `node:http`. @throws Error for a request over HTTP/2. */
export function requireRecordable(req: IncomingMessage): void {
  if (req.httpVersionMajor <= 1) return;
  throw new Error(
    'idempotency: this request came over HTTP/2 (node:http2), whose responses cannot be recorded, so the handler ' +
      'does not run. Serve HTTP/1.1 with node:http or node:https, and let a proxy in front of it speak HTTP/2.',
  );
}

/** Names the options that differ, as the application calls them. */
function differences(first: ResolvedOptions, second: ResolvedOptions): string[] {
  const names = (Object.keys(first) as (keyof ResolvedOptions)[]).filter(name => !isSame(first[name], second[name]));
  // Leases belong to their store.
  const belongs = ['leases', 'both'];
  return names.filter(name => !belongs.includes(name) || !names.includes('responses')).map(name => given[name] ?? name);
}

const given: Readonly<Partial<Record<keyof ResolvedOptions, string>>> = {
  responses: 'store',
  callersOn: 'binding.claims of configure()',
};

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => item === other[index]);
  if (one instanceof RegExp && other instanceof RegExp) return String(one) === String(other);
  return one === other;
}

/** Shared by all copies of this module in the process: one may leave a request alone that another guards. */
const UNGUARDED = Symbol.for('bindonce.unguarded');

/** The `req.idempotency` of a request that runs without a guard: handlers expect one. */
class Unguarded implements RequestIdempotency {
  readonly [UNGUARDED] = true;
  /** In place of a cache key, for a request that has none: its keys are of this attempt alone. */
  private seed: string | undefined;
  /** Never aborts. */
  declare readonly signal: AbortSignal;

  constructor(
    readonly key: string,
    readonly cacheKey: string,
    private readonly res: ServerResponse,
    private readonly options: ResolvedOptions,
  ) {
    let signal: AbortSignal | undefined;
    // Made when it is first asked for: that takes 5 µs.
    const made = (): AbortSignal => (signal ??= new AbortController().signal);
    Object.defineProperty(this, 'signal', { get: made, enumerable: true });
  }

  readonly forget = (): void => {
    // Nothing is kept.
  };

  derivedKey(name: string): string {
    return derivedKey((this.seed ??= this.cacheKey || randomUUID()), name);
  }

  commitWith<Tx, T>(adapter: TransactionAdapter<Tx>, work: (tx: Tx) => Promise<T>): Promise<T> {
    return commitUnguarded(this.res, adapter, work, this.options.storeTimeout);
  }
}

/**
 * Lets a request through that is not to be guarded, because of its method or because it has no key.
 * @returns whether it is one.
 */
export function letThrough(req: IncomingMessage, res: ServerResponse, options: ResolvedOptions): boolean {
  const { methods, whenKeyMissing, headerName, onEvent } = options;
  const isOther = methods !== undefined && !methods.includes(req.method ?? '');
  if (!isOther && !(whenKeyMissing === 'run' && isKeyMissing(req, headerName))) return false;
  const isFirst = leaveUnguarded(req, res, options);
  if (isFirst && !isOther) new Reporter(onEvent, req).reportUnguarded();
  return true;
}

/** Sets the `req.idempotency` of a request that runs without a guard. @returns false if it is set already. */
export function leaveUnguarded(
  req: IncomingMessage,
  res: ServerResponse,
  options: ResolvedOptions,
  key = '',
  cacheKey = '',
): boolean {
  const guarded = req as { idempotency?: unknown };
  if (guarded.idempotency) return false;
  guarded.idempotency = new Unguarded(key, cacheKey, res, options);
  return true;
}

/** Returns true when something other than bindonce has set this value of `req.idempotency`. */
function isSetByOthers(value: unknown): boolean {
  return Boolean(value) && !(typeof value === 'object' && value !== null && UNGUARDED in value);
}
