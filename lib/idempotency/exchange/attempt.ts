import type { Exchange } from './exchange';
import { identify } from '../identity/cache-key';
import type { Caller } from '../identity/caller';
import { readKey } from '../identity/key';
import { newToken, type RunId } from '../leases/token';

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
