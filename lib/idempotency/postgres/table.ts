import type { PostgresPool } from './pool';

/** SQLSTATE of errors that are part of the plan (PostgreSQL, appendix A). */
const UNDEFINED_TABLE = '42P01';
const SERIALIZATION_FAILURE = '40001';
/** Somebody else has made the table meanwhile; which of them it is depends on how far they were. */
const MADE_ALREADY: readonly unknown[] = ['42P07', '42710', '23505'];

/** A step that did not come through in this many tries is a failed one. */
const TRIES = 20;

/** The table of leases, made when it is missing: a role that may not make tables can use one that is there. */
export class PostgresTable {
  private making: Promise<void> | undefined;

  constructor(
    private readonly pool: PostgresPool,
    private readonly createStatement: string,
  ) {}

  /** Carries out one statement, which is one transaction. */
  async run(statement: string, values: unknown[]): Promise<readonly unknown[]> {
    for (let tries = 1; ; tries++) {
      try {
        return (await this.pool.query(statement, values)).rows;
      } catch (error) {
        const code = sqlState(error);
        if (tries === TRIES || (code !== UNDEFINED_TABLE && code !== SERIALIZATION_FAILURE)) throw error;
        if (code === UNDEFINED_TABLE) await (this.making ??= this.make());
        // Else the database isolates more strictly than "read committed", somebody else's step came first, and ours changed nothing.
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
