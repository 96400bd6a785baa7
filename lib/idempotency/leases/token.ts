import { randomText } from '../../basics/bytes';
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

/** Makes the token of one run, `<fingerprint>.<random text>`: it names this run and no other. */
export const newToken = (fingerprint: string): string => `${fingerprint}.${randomText()}`;

/** Reads the fingerprint of the request that the token was made for. */
export const fingerprintOf = (token: string): string => token.slice(0, token.indexOf('.'));
