import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { makeIdempotency } from '../idempotency/idempotency';
import type { KeyRecord, Keys, KeysQuery } from '../idempotency/operate/keys';
import type { IdempotencyOptions } from '../idempotency/options/options';
import { postgresStore, type PostgresPool } from '../idempotency/stores/postgres/store';
import { sqliteStore } from '../idempotency/stores/sqlite/store';
import { parsedArguments, UsageError, type Command } from './command-line';

const usage = `Usage: bindonce keys <command> --store <url or file> [options]

  ls                               runs, the newest first
  show <cacheKey>                  one run
  purge <cacheKey>                 removes it: the next request with its key RUNS THE HANDLER AGAIN
  resolve <cacheKey> <outcome>     says of a run whose process died that it "ran", or "did-not-run"

  --store <url or file>     redis://…, rediss://…, postgres://…, or a file of SQLite
  --namespace <name>        of the Keyv on Redis
  --schema, --prefix        of the tables in PostgreSQL
  --json                    for programs
  --state, --path, --key, --caller, --limit, --after
                            of ls: running, done or unknown; a path and all below it; the key of a client; what
                            scope returned; at most so many (100); "after" of the list before

Exit code: 0; 1 if there is no such run; 2 for a mistake, or a store that fails.
`;

/** Milliseconds that a run which is settled as "ran" is kept: a day. */
const KEPT = 86_400_000;

/** Shows and changes the runs in a store. */
export const keysCommand: Command = { usage, run };

const text = { type: 'string' } as const;

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parsedArguments(args, usage, {
    ...{ store: text, namespace: text, schema: text, prefix: text, json: { type: 'boolean' } },
    ...{ state: text, path: text, key: text, caller: text, limit: text, after: text },
  });
  const { store, namespace, schema, prefix, json = false, limit, ...query } = values;
  const [command = '', cacheKey, outcome] = positionals;
  const wanted = { ls: 1, show: 2, purge: 2, resolve: 3 }[command];
  if (wanted !== positionals.length) throw new UsageError(`Name one command, and what it needs.\n\n${usage}`);
  if (store === undefined) throw new UsageError(`Name the store: --store <url or file>.\n\n${usage}`);
  const { keys } = makeIdempotency({ store: storeAt(store, { namespace, schema, prefix }), cacheDuration: KEPT });
  try {
    const asked = { ...query, ...(limit && { limit: Number(limit) }) } as KeysQuery;
    if (command === 'ls') return await list(keys, asked, json);
    if (cacheKey === undefined) return 2;
    if (command === 'show') return show(await keys.get(cacheKey), json);
    const isDone =
      command === 'purge' ? await keys.purge(cacheKey) : await keys.resolve(cacheKey, outcome as 'ran' | 'did-not-run');
    print(
      json ? JSON.stringify({ done: isDone }) : isDone ? 'Done.' : 'There is no such run, or it is in another state.',
    );
    return isDone ? 0 : 1;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** @throws UsageError for an unknown address, a file that is not there, and a package that is not installed. */
function storeAt(
  address: string,
  { namespace, schema, prefix }: Readonly<Record<string, string | undefined>>,
): NonNullable<IdempotencyOptions['store']> {
  const [, scheme] = /^([a-z]+):\/\//.exec(address) ?? [];
  switch (scheme) {
    case 'redis':
    case 'rediss': {
      const { Keyv } = installed('keyv') as { Keyv: new (adapter: unknown, options: object) => never };
      const { default: KeyvRedis } = installed('@keyv/redis') as { default: new (url: string) => object };
      return new Keyv(new KeyvRedis(address), { ...(namespace !== undefined && { namespace }) });
    }
    case 'postgres':
    case 'postgresql': {
      const { Pool } = installed('pg') as { Pool: new (options: object) => PostgresPool };
      const options = { ...(schema !== undefined && { schema }), ...(prefix !== undefined && { prefix }) };
      return postgresStore(new Pool({ connectionString: address }), options);
    }
    case undefined:
      if (existsSync(address)) return sqliteStore(address);
      throw new UsageError(`There is no file ${resolve(address)}.`);
    default:
      throw new UsageError(`There is no store for ${scheme}://. Use redis://, rediss://, postgres://, or a file.`);
  }
}

/** A package of the application, in whose folder the command runs. */
function installed(name: string): unknown {
  try {
    return createRequire(resolve('package.json'))(name);
  } catch (error) {
    throw new UsageError(`The package ${name} is not installed here: ${(error as Error).message.split('\n')[0]}`);
  }
}

async function list(keys: Keys, query: KeysQuery, json: boolean): Promise<number> {
  const page = await keys.list(query);
  if (json) print(JSON.stringify(page));
  else for (const one of page.items) print(rowOf(one));
  if (!json && page.after !== undefined) print(`More: --after ${page.after}`);
  return 0;
}

function show(found: KeyRecord | undefined, json: boolean): number {
  if (!found) {
    print(json ? 'null' : 'There is no such run.');
    return 1;
  }
  print(json ? JSON.stringify(found) : `${rowOf(found)}\n  until ${timeOf(found.ends)}`);
  return 0;
}

/** A line of at most 80 columns, and the cache key below. */
function rowOf({ state, status, created, method, path, cacheKey }: KeyRecord): string {
  const cells = [state.padEnd(7), String(status ?? '').padEnd(3), timeOf(created), method.padEnd(6), path];
  return `${cells.join('  ').slice(0, 80)}\n  ${cacheKey}`;
}

const timeOf = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

const print = (line: string): void => {
  console.log(line);
};
