import type { PostgresPool } from './pool';

/** SQLSTATE of the errors that are expected (PostgreSQL, appendix A). */
const UNDEFINED_TABLE = '42P01';
const SERIALIZATION_FAILURE = '40001';
/** Another process has created the table meanwhile; the code depends on how far it was. */
const MADE_ALREADY: readonly unknown[] = ['42P07', '42710', '23505'];

/** Tries after which a step has failed. */
const TRIES = 20;

/** The table of leases, created if it is missing: a role that may not create tables can use an existing one. */
export class PostgresTable {
  private making: Promise<void> | undefined;

  constructor(
    private readonly pool: PostgresPool,
    private readonly createStatement: string,
  ) {}

  /** Runs one statement, which is one transaction. */
  async run(statement: string, values: unknown[]): Promise<readonly unknown[]> {
    for (let tries = 1; ; tries++) {
      try {
        return (await this.pool.query(statement, values)).rows;
      } catch (error) {
        const code = sqlState(error);
        if (tries === TRIES || (code !== UNDEFINED_TABLE && code !== SERIALIZATION_FAILURE)) throw error;
        if (code === UNDEFINED_TABLE) await (this.making ??= this.make());
        // Else the database isolates more strictly than "read committed", another step came first, and ours changed
        // nothing.
      }
    }
  }

  private async make(): Promise<void> {
    try {
      await this.pool.query(this.createStatement);
    } catch (error) {
      if (!MADE_ALREADY.includes(sqlState(error))) throw error;
    } finally {
      this.making = undefined;
    }
  }
}

function sqlState(error: unknown): unknown {
  return (error as { code?: unknown } | null | undefined)?.code;
}
