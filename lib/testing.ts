export type { Acquisition, LeaseStore } from './idempotency/leases/lease-store';
export {
  leaseStoreContract,
  type LeaseStoreContractOptions,
  type LeaseStoreUnderTest,
} from './testing/lease-store-contract';
export { leaseStoreSearch, type LeaseStoreInTime, type LeaseStoreSearchOptions } from './testing/lease-store-search';
export type { TestRunner, TestRunnerOptions } from './testing/runner';
