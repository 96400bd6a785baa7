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

/** The type of the last parameter of a function: of an overloaded one, of its last signature. */
type Work<F> = F extends (...given: infer P) => unknown
  ? P extends readonly [...unknown[], infer L]
    ? L
    : never
  : never;
/** What a library gives to the function that it runs in a transaction. */
type Given<W> = W extends (tx: infer Tx, ...others: never[]) => unknown ? Tx : never;

/** SQLSTATE (PostgreSQL, appendix A): serialization failure, deadlock; and Prisma's code for both. */
const RETRYABLE: readonly unknown[] = ['40001', '40P01', 'P2034'];

/** Where libraries keep the error of the driver: Drizzle in `cause`, TypeORM and Prisma elsewhere. */
const BELOW = ['cause', 'driverError', 'meta', 'driverAdapterError'] as const;

function isRetryable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const found = error as Readonly<Record<string, unknown>>;
  return (
    [found['code'], found['originalCode']].some(code => RETRYABLE.includes(code)) ||
    BELOW.some(name => isRetryable(found[name]))
  );
}

interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  on(event: 'error', listener: () => void): unknown;
  release(error?: Error | boolean): void;
}

interface PgPool<Client> {
  connect: {
    (): Promise<Client>;
    (callback: (error: Error | undefined, client: Client | undefined, release: never) => void): unknown;
  };
}

/** Clients that have our listener for errors. */
const heard = new WeakSet<PgClient>();

/**
 * Takes a client of a pool. While it is used, the pool does not listen to it: a connection that breaks between two
 * queries would end the process. (Even between its promise and whoever awaits it, hence the callback.)
 */
const connected = <Client extends PgClient>(pool: PgPool<Client>): Promise<Client> =>
  new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (!client) {
        reject(error ?? new Error('The pool has no client.'));
        return;
      }
      // The next query fails.
      if (!heard.has(client)) client.on('error', () => undefined);
      heard.add(client);
      resolve(client);
    });
  });

/** The isolation levels of PostgreSQL. */
export type IsolationLevel = 'read committed' | 'repeatable read' | 'serializable';

/**
 * Transactions of pg (node-postgres) 8.
 * @param pool a `Pool`; it must not be one that `postgresStore` uses, unless it has a connection to spare for it.
 */
export const fromPg = <Client extends PgClient>(
  pool: PgPool<Client>,
  { isolationLevel }: { readonly isolationLevel?: IsolationLevel } = {},
): TransactionAdapter<Client> => ({
  isRetryable,
  async transaction(work) {
    const client = await connected(pool);
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
      client.release(broken);
    }
  },
  execute: async (client, text, values) => (await client.query(text, [...values])).rows,
});

interface PostgresJs {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its transactions are inferred from what is passed.
  begin(options: string, work: (sql: any) => unknown): Promise<unknown>;
}

/** Transactions of postgres.js 3. @param options of `sql.begin()`, for example `'isolation level serializable'`. */
export const fromPostgresJs = <Sql extends PostgresJs>(
  sql: Sql,
  options = '',
): TransactionAdapter<Given<Work<Sql['begin']>>> => ({
  isRetryable,
  transaction: work => sql.begin(options, work) as ReturnType<typeof work>,
  execute: (tx, text, values) =>
    (tx as { unsafe(text: string, values: unknown[]): Promise<unknown[]> }).unsafe(text, [...values]),
});

interface Drizzle {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above.
  transaction(work: (tx: any) => Promise<unknown>, config?: any): Promise<unknown>;
}

/** Transactions of Drizzle on PostgreSQL. @param config of `db.transaction()`. */
export const fromDrizzle = <Db extends Drizzle>(
  db: Db,
  config?: Parameters<Db['transaction']>[1],
): TransactionAdapter<Given<Parameters<Db['transaction']>[0]>> => ({
  isRetryable,
  transaction: work => db.transaction(work, config) as ReturnType<typeof work>,
  async execute(tx, text, values) {
    // Its `sql` is not ours to import, and a query that is text has no parameters: the values are written in
    // hexadecimal digits, in which nothing can be hidden.
    const query = text.replace(/\$(\d+)/g, (_, at) => {
      const hex = Buffer.from(values[Number(at) - 1] ?? '').toString('hex');
      return `convert_from(decode('${hex}', 'hex'), 'UTF8')`;
    });
    return rowsOf(await (tx as { execute(query: string): Promise<unknown> }).execute(query));
  },
});

interface Kysely {
  transaction(): {
    setIsolationLevel(level: IsolationLevel): ReturnType<Kysely['transaction']>;
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above.
    execute(work: (tx: any) => Promise<unknown>): Promise<unknown>;
  };
}

/** Transactions of Kysely on PostgreSQL. */
export const fromKysely = <Db extends Kysely>(
  db: Db,
  { isolationLevel }: { readonly isolationLevel?: IsolationLevel } = {},
): TransactionAdapter<Given<Work<ReturnType<Db['transaction']>['execute']>>> => ({
  isRetryable,
  transaction(work) {
    const builder = db.transaction();
    return (isolationLevel ? builder.setIsolationLevel(isolationLevel) : builder).execute(work) as ReturnType<
      typeof work
    >;
  },
  async execute(tx, text, values) {
    // What `CompiledQuery.raw(text, values)` makes.
    const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] };
    const compiled = { sql: text, parameters: values, query, queryId: { queryId: 'bindonce' } };
    return rowsOf(await (tx as { executeQuery(compiled: object): Promise<unknown> }).executeQuery(compiled));
  },
});

interface Knex {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above.
  transaction(work: (tx: any) => Promise<unknown>, config?: any): Promise<unknown>;
  raw(text: string, values: readonly string[]): unknown;
}

/** Transactions of Knex on PostgreSQL. @param config of `knex.transaction()`. */
export const fromKnex = <Tx extends object>(
  knex: { transaction(work: (tx: Tx) => Promise<unknown>, config?: never): Promise<unknown> },
  config?: Readonly<Record<string, unknown>>,
): TransactionAdapter<Tx> => ({
  isRetryable,
  transaction: work => (knex as Knex).transaction(work, config) as ReturnType<typeof work>,
  execute: async (tx, text, values) => rowsOf(await (tx as Knex).raw(text.replace(/\$\d+/g, '?'), values)),
});

interface Prisma {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above.
  $transaction(work: (tx: any) => Promise<unknown>, options?: any): Promise<unknown>;
}

/**
 * Transactions of Prisma on PostgreSQL.
 * @param options of `prisma.$transaction()`: Prisma ends a transaction after a `timeout` of five seconds.
 */
export const fromPrisma = <Client extends Prisma>(
  prisma: Client,
  options?: Parameters<Client['$transaction']>[1],
): TransactionAdapter<Given<Parameters<Client['$transaction']>[0]>> => ({
  isRetryable,
  transaction: work => prisma.$transaction(work, options) as ReturnType<typeof work>,
  execute: (tx, text, values) =>
    (tx as { $queryRawUnsafe(text: string, ...values: string[]): Promise<unknown[]> }).$queryRawUnsafe(text, ...values),
});

interface TypeOrm<Manager> {
  transaction(work: (manager: Manager) => Promise<unknown>): Promise<unknown>;
  transaction(isolation: 'READ COMMITTED', work: (manager: Manager) => Promise<unknown>): Promise<unknown>;
}

/** Transactions of TypeORM on PostgreSQL. @param dataSource a `DataSource`, which is initialised. */
export const fromTypeOrm = <Manager extends { query(text: string, values?: unknown[]): Promise<unknown> }>(
  dataSource: TypeOrm<Manager>,
  { isolationLevel }: { readonly isolationLevel?: IsolationLevel } = {},
): TransactionAdapter<Manager> => ({
  isRetryable,
  transaction(work) {
    const level = isolationLevel?.toUpperCase() as 'READ COMMITTED' | undefined;
    return (level ? dataSource.transaction(level, work) : dataSource.transaction(work)) as ReturnType<typeof work>;
  },
  execute: async (manager, text, values) => rowsOf(await manager.query(text, [...values])),
});

/** Returns the rows of a result: of an array, or of what pg returns. */
function rowsOf(result: unknown): readonly unknown[] {
  const rows: unknown = Array.isArray(result) ? result : (result as { readonly rows?: unknown } | undefined)?.rows;
  if (Array.isArray(rows)) return rows as readonly unknown[];
  throw new TypeError('commitWith: the database has answered the statement of bindonce without rows.');
}
