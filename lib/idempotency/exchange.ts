import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Next } from '../problems/answer';
import type { Tell } from './events';
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
  readonly claim: Claim;
  readonly settings: Settings;
  readonly tell: Tell;
}
