import { randomUUID } from 'node:crypto';
import type { Facts } from './runs';

/** The fingerprint in the token of a purge or a settlement, which is not a request. */
export const PURGE = 'purge';

/** One run of one request: what its lease and its response are stored under. */
export interface RunId {
  readonly cacheKey: string;
  /** The holder of the lease. */
  readonly token: string;
  /** Absent for what is not a request. */
  readonly facts?: Facts | undefined;
}

/**
 * Makes the token of one run, `<fingerprint>.<UUID>`: it names this run and no other. Node keeps random bytes in stock
 * for UUIDs; to fetch them for each token takes 2 µs more.
 */
export function newToken(fingerprint: string): string {
  return `${fingerprint}.${randomUUID()}`;
}

/** Reads the fingerprint of the request that the token was made for. */
export function fingerprintOf(token: string): string {
  return token.slice(0, token.indexOf('.'));
}
