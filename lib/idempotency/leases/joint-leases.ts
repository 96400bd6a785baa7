import type { LeaseStore } from './lease-store';

/**
 * Leases that are on one connection with the responses: to store a response and to complete its run, a request waits
 * for one answer instead of two.
 */
export interface JointLeases extends LeaseStore {
  /**
   * Completes a run as `complete` does, if its response is stored.
   * @param responseKey the key of the response on the server.
   * @returns undefined, and changes nothing, when no response is found there. It may be stored nevertheless: Keyv may
   * write it later, or under another key.
   */
  completeIfStored(key: string, token: string, ms: number, responseKey: string): Promise<boolean | undefined>;
}

export function areJoint(leases: LeaseStore): leases is JointLeases {
  return 'completeIfStored' in leases;
}
