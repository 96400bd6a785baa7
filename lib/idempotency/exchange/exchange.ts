import type { IncomingMessage, ServerResponse } from 'node:http';
import { isExchangeOver } from '../../http/exchange-end';
import type { Next } from '../../http/next';
import { identify } from '../identity/cache-key';
import type { Caller } from '../identity/caller';
import { readKey } from '../identity/key';
import { newToken, type RunId } from '../leases/token';
import type { ResolvedOptions } from '../options/resolved-options';
import type { Outcome } from '../outcome';
import type { Reporter } from './reporter';
import type { TimedStores } from '../store-calls/timed-stores';

/** One request on its way through the middleware. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: Next;
  readonly options: ResolvedOptions;
  readonly stores: TimedStores;
  readonly reporter: Reporter;
}

/**
 * Returns the outcome of a request that cannot be answered any more; undefined for any other. Its client has
 * disconnected, or an earlier middleware (a timeout) has responded: then there is nothing left to do. If an earlier
 * middleware has only begun to respond, it counts on a later one for the end, so the error handlers have to end it.
 */
export function outcomeIfUnanswerable({ req, res }: Exchange): Outcome | undefined {
  if (isExchangeOver(req, res) || res.writableEnded) return { kind: 'abandoned' };
  if (!res.headersSent) return undefined;
  const error = new Error(
    'idempotency: a middleware that is mounted before idempotency() has sent the head of the response, so the ' +
      'request can be answered neither by the handler nor with a stored response. Mount idempotency() before it.',
  );
  return { kind: 'refused', error };
}

/** One request's attempt to get the right to run. */
export interface Attempt extends RunId {
  readonly key: string;
  readonly caller: Caller;
  /** Tells requests under one cache key apart. */
  readonly fingerprint: string;
}

/**
 * Identifies the request: its key, caller, cache key and fingerprint.
 * @throws Problem when it has no usable key, or a body that cannot be read; ClientGone; Error when its caller cannot be
 * told apart from others.
 */
export async function identifyAttempt({ req, res, options, reporter }: Exchange): Promise<Attempt> {
  const key = readKey(req, options.headerName, options.keyPattern);
  reporter.identified(key);
  const { caller, cacheKey, fingerprint } = await identify(req, res, key, options);
  reporter.identified(key, cacheKey);
  return { key, caller, cacheKey, fingerprint, token: newToken(fingerprint) };
}
