import type { IncomingMessage } from 'node:http';
import type { Exchange } from './run/exchange';
import { isKeyMissing } from './identity/key';
import type { ResolvedOptions } from './options/resolved-options';
import { commitWith } from './run/commit-with';
import { RequestGuard } from './run/request-idempotency';

/** Shared by all copies of this module in the process, since they guard the same requests. */
const GUARD = Symbol.for('bindonce.guard');
/** The same: one copy may leave a request alone that another guards. */
const UNGUARDED = Symbol.for('bindonce.unguarded');

interface Marked extends IncomingMessage {
  [GUARD]?: ResolvedOptions;
  idempotency?: unknown;
}

/**
 * Marks a request as guarded with these options.
 * @returns false when it is guarded with the same options already: mounted for the application and for a route, the
 * second guard would wait for the first.
 * @throws Error when it is guarded with other options, which would silently be ignored, or when something else has set
 * `req.idempotency`; and for a request over HTTP/2, whose response cannot be recorded.
 */
export function mark(req: Marked, options: ResolvedOptions): boolean {
  const { [GUARD]: first, idempotency: set } = req;
  if (first) {
    const names = differences(first, options);
    if (names.length === 0) return false;
    throw new Error(
      `idempotency: two idempotency() with different options (${names.join(', ')}) are mounted for this request, and ` +
        'the second would have no effect. Mount one of them, or give both the same options.',
    );
  }
  if (set && !(typeof set === 'object' && UNGUARDED in set))
    throw new Error(
      'idempotency: something other than bindonce has set req.idempotency. Remove it, or keep its value under ' +
        'another name.',
    );
  if (req.httpVersionMajor > 1)
    throw new Error(
      'idempotency: this request came over HTTP/2 (node:http2), whose responses cannot be recorded, so the handler ' +
        'does not run. Serve HTTP/1.1 with node:http or node:https, and let a proxy in front of it speak HTTP/2.',
    );
  req[GUARD] = options;
  return true;
}

/** Names the options that differ, as the application calls them. */
const differences = ({ given: first }: ResolvedOptions, { given: second }: ResolvedOptions): string[] =>
  Object.keys(first).filter(name => !isSame(first[name], second[name]));

/** Compares lists of names, and patterns, by what they say. */
function isSame(one: unknown, other: unknown): boolean {
  const haveText = [one, other].every(value => Array.isArray(value) || value instanceof RegExp);
  return haveText ? String(one) === String(other) : one === other;
}

/**
 * Lets a request through that is not to be guarded, because of its method or because it has no key.
 * @returns whether it is one.
 */
export function letThrough(exchange: Exchange): boolean {
  const { req, options } = exchange;
  const { methods, whenKeyMissing, headerName } = options;
  const isOther = methods !== undefined && !methods.includes(req.method ?? '');
  if (!isOther && !(whenKeyMissing === 'run' && isKeyMissing(req, headerName))) return false;
  if (leaveUnguarded(exchange) && !isOther) exchange.report({ kind: 'unguarded' });
  return true;
}

/**
 * Sets the `req.idempotency` of a request that runs without a guard: handlers expect one.
 * @returns false if it is set already.
 */
export function leaveUnguarded(exchange: Exchange): boolean {
  const { key, id } = exchange;
  const req: Marked = exchange.req;
  if (req.idempotency) return false;
  const commit: RequestGuard['commitWith'] = (adapter, work) => commitWith(exchange, adapter, work);
  const guard = new RequestGuard(key, id.cacheKey, { forgotten: () => undefined, commit });
  req.idempotency = Object.assign(guard, { [UNGUARDED]: true });
  return true;
}
