import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { ResolvedOptions } from './options';
import { isForeign } from './unguarded';

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
      `idempotency: two guards with different options (${names.join(', ')}) are mounted for this request, and the ` +
        'second would have no effect. Mount one of them, or give both the same options.',
    );
  }
  if (isForeign((req as Partial<Request>).idempotency)) {
    throw new Error(
      'idempotency: something other than bindonce has set req.idempotency. Remove it, or keep its value under ' +
        'another name.',
    );
  }
  marked[GUARD] = options;
  return true;
}

function differences(first: ResolvedOptions, second: ResolvedOptions): string[] {
  return (Object.keys(first) as (keyof ResolvedOptions)[]).filter(name => !isSame(first[name], second[name]));
}

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => item === other[index]);
  if (one instanceof RegExp && other instanceof RegExp) return String(one) === String(other);
  return one === other;
}
