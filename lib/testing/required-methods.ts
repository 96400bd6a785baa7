import type { LeaseStore } from '../idempotency/leases/lease-store';

const METHODS = ['acquire', 'renew', 'complete', 'release'] as const;

/** @throws TypeError for a store, of a program without types, that lacks a method which is not optional. */
export function requireMethods(store: LeaseStore): void {
  const missing = METHODS.filter(name => typeof (store as Partial<LeaseStore>)[name] !== 'function');
  if (missing.length > 0)
    throw new TypeError(
      `The lease store has no method ${missing.join(' and no method ')}. ` +
        'Add what is missing: each has acquire, renew, complete and release.',
    );
}
