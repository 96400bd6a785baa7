/**
 * A way into the transactions of one library, for `req.idempotency.commitWith()`. An application whose library is not
 * among the adapters below writes its own.
 * @typeParam Tx what the library gives to the work in a transaction.
 */
export interface TransactionAdapter<Tx> {
  /**
   * Runs the work in one transaction: commits when the work resolves, rolls back and rejects with its error when it
   * rejects. It must not try again by itself.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs one statement in the transaction, with `$1`, `$2`, … for the values, all text. @returns its rows. */
  execute(tx: Tx, text: string, values: readonly string[]): Promise<readonly unknown[]>;
  /** Returns true for an error after which PostgreSQL has rolled back, and the work may simply run again. */
  isRetryable(error: unknown): boolean;
}

/** SQLSTATE (PostgreSQL, appendix A): serialization failure, deadlock; and Prisma's code for both. */
const RETRYABLE: readonly unknown[] = ['40001', '40P01', 'P2034'];

/** Where libraries keep the error of the driver: Drizzle in `cause`, TypeORM and Prisma elsewhere. */
const BELOW = ['cause', 'driverError', 'meta', 'driverAdapterError'] as const;

function isRetryable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const found = error as Readonly<Record<string, unknown>>;
  const isCode = RETRYABLE.includes(found['code']) || RETRYABLE.includes(found['originalCode']);
  return isCode || BELOW.some(name => isRetryable(found[name]));
}

/** Makes the adapter of a library. @param execute returns rows, or an object with them as pg does. */
const adapter = <Tx>(
  transaction: (work: (tx: Tx) => Promise<unknown>) => Promise<unknown>,
  execute: (tx: Tx, text: string, values: string[]) => unknown,
): TransactionAdapter<Tx> => ({
  isRetryable,
  transaction: work => transaction(work) as ReturnType<typeof work>,
  async execute(tx, text, values) {
    const result = await execute(tx, text, [...values]);
    return (Array.isArray(result) ? result : (result as { readonly rows: unknown }).rows) as readonly unknown[];
  },
});

/** The isolation levels of PostgreSQL. */
export type IsolationLevel = 'read committed' | 'repeatable read' | 'serializable';

interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
  release(error?: Error | boolean): void;
}

const ignore = (): void => undefined;

/**
 * Transactions of pg (node-postgres) 8.
 * @param pool a `Pool`; it must not be one that `postgresStore` uses, unless it has a connection to spare for it.
 */
export const fromPg = <Client extends PgClient>(
  pool: { connect(callback: (error: Error | undefined, client?: Client) => void): unknown },
  { isolationLevel }: { readonly isolationLevel?: IsolationLevel } = {},
): TransactionAdapter<Client> =>
  adapter(
    async work => {
      // While a client is used, the pool does not listen to it: a connection that breaks between two queries, or
      // between the promise and whoever awaits it, would end the process. With a listener, the next query fails.
      const client = await new Promise<Client>((resolve, reject) => {
        pool.connect((error, connected) => {
          connected?.on('error', ignore);
          if (connected) resolve(connected);
          else reject(error ?? new Error('The pool has no client.'));
        });
      });
      let broken = false;
      try {
        await client.query(isolationLevel ? `BEGIN ISOLATION LEVEL ${isolationLevel}` : 'BEGIN');
        const result = await work(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK').catch(() => (broken = true));
        throw error;
      } finally {
        client.off('error', ignore);
        client.release(broken);
      }
    },
    (client, text, values) => client.query(text, values),
  );

/** Transactions of postgres.js 3. @param options of `sql.begin()`, for example `'isolation level serializable'`. */
export const fromPostgresJs = <Tx extends { unsafe(text: string, values: string[]): PromiseLike<unknown> }>(
  sql: { begin(options: string, work: (sql: Tx) => Promise<unknown>): Promise<unknown> },
  options = '',
): TransactionAdapter<Tx> =>
  adapter(
    work => sql.begin(options, work),
    (tx, text, values) => tx.unsafe(text, values),
  );

/** Transactions of Drizzle on PostgreSQL. @param config of `db.transaction()`. */
export const fromDrizzle = <Tx extends { execute(query: string): PromiseLike<unknown> }, Config>(
  db: { transaction(work: (tx: Tx) => Promise<unknown>, config?: Config): Promise<unknown> },
  config?: Config,
): TransactionAdapter<Tx> =>
  adapter(
    work => db.transaction(work, config),
    (tx, text, values) => {
      // Its `sql` is not ours to import, and a query that is text has no parameters: the values are written in
      // hexadecimal digits, in which nothing can be hidden.
      const hexOf = (at: string): string => Buffer.from(values[Number(at) - 1] ?? '').toString('hex');
      return tx.execute(
        text.replace(/\$(\d+)/g, (_, at: string) => `convert_from(decode('${hexOf(at)}', 'hex'), 'UTF8')`),
      );
    },
  );

interface KyselyBuilder<Tx> {
  setIsolationLevel(level: IsolationLevel): { execute(work: (tx: Tx) => Promise<unknown>): Promise<unknown> };
}

/** Transactions of Kysely on PostgreSQL. */
export const fromKysely = <Tx extends { executeQuery(compiled: object): Promise<unknown> }>(
  db: { transaction(): KyselyBuilder<Tx> },
  { isolationLevel }: { readonly isolationLevel?: IsolationLevel } = {},
): TransactionAdapter<Tx> =>
  adapter(
    // It takes undefined for the default, and so does TypeORM.
    work =>
      db
        .transaction()
        .setIsolationLevel(isolationLevel as IsolationLevel)
        .execute(work),
    (tx, text, values) => {
      // What `CompiledQuery.raw(text, values)` makes.
      const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] };
      return tx.executeQuery({ sql: text, parameters: values, query, queryId: { queryId: 'bindonce' } });
    },
  );

/** Transactions of Knex on PostgreSQL. @param config of `knex.transaction()`. */
export const fromKnex = <Tx extends { raw(text: string, values: readonly string[]): unknown }, Config>(
  knex: { transaction(work: (tx: Tx) => Promise<unknown>, config?: Config): Promise<unknown> },
  config?: Config,
): TransactionAdapter<Tx> =>
  adapter(
    work => knex.transaction(work, config),
    (tx, text, values) => tx.raw(text.replace(/\$\d+/g, '?'), values),
  );

/**
 * Transactions of Prisma on PostgreSQL.
 * @param options of `prisma.$transaction()`: Prisma ends a transaction after a `timeout` of five seconds.
 */
export const fromPrisma = <Tx extends { $queryRawUnsafe(text: string, ...values: string[]): unknown }, Options>(
  prisma: { $transaction(work: (tx: Tx) => Promise<unknown>, options?: Options): Promise<unknown> },
  options?: Options,
): TransactionAdapter<Tx> =>
  adapter(
    work => prisma.$transaction(work, options),
    (tx, text, values) => tx.$queryRawUnsafe(text, ...values),
  );

/** Transactions of TypeORM on PostgreSQL. @param dataSource a `DataSource`, which is initialised. */
export const fromTypeOrm = <Manager extends { query(text: string, values?: unknown[]): Promise<unknown> }>(
  dataSource: { transaction(level: 'READ COMMITTED', work: (manager: Manager) => Promise<unknown>): Promise<unknown> },
  { isolationLevel }: { readonly isolationLevel?: IsolationLevel } = {},
): TransactionAdapter<Manager> =>
  adapter(
    work => dataSource.transaction(isolationLevel?.toUpperCase() as 'READ COMMITTED', work),
    (manager, text, values) => manager.query(text, values),
  );
