import type { LeaseStore } from './lease-store';

/** Shared by every copy of this module. An application's own lease store may have members with any plain name. */
export const CLOSED = Symbol.for('bindonce.leases.closed');

/** Leases over a client that the application can close. */
export interface ClosableLeases extends LeaseStore {
  /** True while the client is closed. */
  readonly [CLOSED]: boolean;
}

const areClosable = (leases: LeaseStore): leases is ClosableLeases => CLOSED in leases;

export function areClosed(leases: LeaseStore): boolean {
  return areClosable(leases) && leases[CLOSED];
}

/** Refuses a call of a Keyv that would open its closed client again. @throws Error if the client is closed. */
export function refuseIfClosed(leases: LeaseStore): void {
  if (areClosed(leases))
    throw new Error(
      'The client of the store is closed. Close it only when server.close() has finished and all handlers have ended.',
    );
}
