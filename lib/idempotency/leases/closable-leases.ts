import type { LeaseStore } from './lease-store';

/** Leases over a client that the application can close. */
export interface ClosableLeases extends LeaseStore {
  /** True while the client is closed. */
  readonly isClosed: boolean;
  /** Lets the next step open a closed client. Missing where it stays closed. */
  open?(): void;
}

export function areClosed(leases: LeaseStore): boolean {
  return 'isClosed' in leases && leases.isClosed === true;
}

/**
 * Lets the next step open leases that the application has closed. To be called when a request begins, and only then:
 * what is left of earlier requests (duplicates that wait, responses to be stored) must not open them, because the
 * application has closed them to end the process.
 */
export function letOpen(leases: LeaseStore): void {
  if ('isClosed' in leases) (leases as ClosableLeases).open?.();
}

/** Refuses a call of a Keyv that would open its closed client again. @throws Error if the client is closed. */
export function refuseIfClosed(leases: LeaseStore): void {
  if (areClosed(leases))
    throw new Error('the client of the store is closed. Close it when all handlers have ended, after the server.');
}
