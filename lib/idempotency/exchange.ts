import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone } from '../body/errors';
import type { Next } from '../http/next';
import { Problem } from '../problems/problem';
import { teller, type Tell } from './events';
import { identify } from './identity/cache-key';
import type { Caller } from './identity/caller';
import { readKey } from './identity/key';
import { newToken } from './leases/token';
import type { Settings } from './options';

/** One request's claim to the right to run. */
export interface Claim {
  /** What the lease and the response are kept under. */
  readonly cacheKey: string;
  /** Tells requests under one cache key apart. */
  readonly fingerprint: string;
  /** Random, after the fingerprint: it names this run and no other. */
  readonly token: string;
}

/** One request on its way through. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: Next;
  readonly key: string;
  readonly caller: Caller;
  readonly claim: Claim;
  readonly settings: Settings;
  readonly tell: Tell;
}

/**
 * Reads which request this is.
 * @throws Problem when it has no usable key, or a body that cannot be read; ClientGone.
 */
export async function openExchange(
  req: IncomingMessage,
  res: ServerResponse,
  next: Next,
  settings: Settings,
): Promise<Exchange> {
  const received = performance.now();
  let key = '';
  try {
    key = readKey(req, settings.headerName, settings.keyPattern);
    const { caller, cacheKey, fingerprint } = await identify(req, res, key, settings);
    return {
      req,
      res,
      next,
      key,
      settings,
      caller,
      claim: { cacheKey, fingerprint, token: newToken(fingerprint) },
      tell: teller(settings.onEvent, { key, cacheKey }, received),
    };
  } catch (error) {
    const tell = teller(settings.onEvent, { key, cacheKey: '' }, received);
    if (error instanceof ClientGone) tell('abandoned');
    else tell('refused', { ...(error instanceof Problem && { status: error.status }), error });
    throw error;
  }
}
