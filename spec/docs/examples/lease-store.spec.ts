import { TableLeases, type Row, type Table } from '../../../docs/examples/lease-store/table-leases';
import { leaseStoreContract } from '../../../lib/testing';

/** A database with a conditional write, as the example asks for. Each call takes a moment, so that others come in between. */
class Rows implements Table {
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

leaseStoreContract('the example of a lease store', () => {
  const table = new Rows();
  return { one: new TableLeases(table), other: new TableLeases(table) };
});
