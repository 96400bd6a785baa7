import { memoryLeases } from 'bindonce';
import { leaseStoreContract } from 'bindonce/testing';
import * as runner from 'node:test';

leaseStoreContract('my leases', () => {
  const leases = memoryLeases();              // yours: two connections to one database, as two processes have them
  return { one: leases, other: leases };
}, { runner });
