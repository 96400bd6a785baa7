import type { LeaseStore } from './lease-store';

/** Shared by every copy of this module. An application's own lease store may have members with any plain name. */
export const CLOSED = Symbol.for('bindonce.leases.closed');
export const OPEN = Symbol.for('bindonce.leases.open');

/** Leases over a client that the application can close. */
export interface ClosableLeases extends LeaseStore {
  /** True while the client is closed. */
  readonly [CLOSED]: boolean;
  /** Lets the next step open a closed client. Missing where it stays closed. */
  [OPEN]?(): void;
}

const areClosable = (leases: LeaseStore): leases is ClosableLeases => CLOSED in leases;

export function areClosed(leases: LeaseStore): boolean {
  return areClosable(leases) && leases[CLOSED];
}

/**
 * Lets the next step open leases that the application has closed. To be called when a request begins, and only then:
 * what is left of earlier requests (duplicates that wait, responses to be stored) must not open them, because the
 * application has closed them to end the process.
 */
export function letOpen(leases: LeaseStore): void {
  if (areClosable(leases)) leases[OPEN]?.();
}

/** Refuses a call of a Keyv that would open its closed client again. @throws Error if the client is closed. */
export function refuseIfClosed(leases: LeaseStore): void {
  if (areClosed(leases))
    throw new Error(
      'The client of the store is closed. Close it only when server.close() has finished and all handlers have ended.',
    );
}
