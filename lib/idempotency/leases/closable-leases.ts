import type { LeaseStore } from './lease-store';

/** Leases over a client that the application can close. */
export interface ClosableLeases extends LeaseStore {
  /** True while the client is closed; the next request may open it. */
  readonly isClosed: boolean;
}

export function areClosed(leases: LeaseStore): boolean {
  return 'isClosed' in leases && leases.isClosed === true;
}
