import { createRequire } from 'node:module';
import type { LeaseStore } from '../../../lib';
import { leaseStoreContract } from '../../../lib/testing';
import { example } from './example';

interface Row {
  readonly version: string;
}

/** A database with a conditional write, as the example asks for. Each call takes a moment, so that others come in between. */
class Rows {
  private readonly rows = new Map<string, Row>();

  async read(key: string): Promise<Row | undefined> {
    await Promise.resolve();
    return this.rows.get(key);
  }

  async write(key: string, row: Row, version: string | undefined): Promise<boolean> {
    await Promise.resolve();
    if (this.rows.get(key)?.version !== version) return false;
    this.rows.set(key, row);
    return true;
  }
}

const { TableLeases } = createRequire(__filename)(example('dist/lease-store/table-leases.js')) as {
  readonly TableLeases: new (table: Rows) => LeaseStore;
};

leaseStoreContract('the example of a lease store', () => {
  const table = new Rows();
  return { one: new TableLeases(table), other: new TableLeases(table) };
});
