import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { makeIdempotency } from '../idempotency/idempotency';
import type { KeyRecord, Keys, KeysQuery } from '../idempotency/operate/keys';
import { postgresStore, type PostgresPool } from '../idempotency/stores/postgres/store';
import { sqliteStore } from '../idempotency/stores/sqlite/store';
import { CommandError, parsedArguments } from './command';

export const usage = `Usage: bindonce keys <command> --store <url or file> [options]

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

const text = { type: 'string' } as const;

/** Shows and changes the runs in a store. @returns the exit code of the process. */
export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parsedArguments(args, usage, {
    ...{ store: text, namespace: text, schema: text, prefix: text, json: { type: 'boolean' } },
    ...{ state: text, path: text, key: text, caller: text, limit: text, after: text },
  });
  const { store, namespace, schema, prefix, json, limit, ...query } = values;
  const [command = '', cacheKey, outcome] = positionals;
  const wanted = { ls: 1, show: 2, purge: 2, resolve: 3 }[command];
  if (wanted !== positionals.length) throw new CommandError(`Name one command, and what it needs.\n\n${usage}`);
  if (store === undefined) throw new CommandError(`Name the store: --store <url or file>.\n\n${usage}`);
  const { keys } = makeIdempotency({ store: storeAt(store, { namespace, schema, prefix }), cacheDuration: KEPT });
  try {
    const asked = { ...query, ...(limit && { limit: Number(limit) }) } as KeysQuery;
    const [isFound, facts, ...lines] = await resultOf(keys, command, cacheKey, outcome, asked);
    for (const line of json ? [JSON.stringify(facts)] : lines) console.log(line);
    return isFound ? 0 : 1;
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

/** Whether there is such a run, what programs are told, and the lines for a person. */
type Result = readonly [isFound: boolean, facts: unknown, ...lines: string[]];

/** Carries out one command. */
async function resultOf(keys: Keys, command: string, cacheKey = '', outcome = '', query?: KeysQuery): Promise<Result> {
  if (command === 'ls') {
    const page = await keys.list(query);
    const more = page.after === undefined ? [] : [`More: --after ${page.after}`];
    return [true, page, ...page.items.map(rowOf), ...more];
  }
  if (command === 'show') {
    const found = await keys.get(cacheKey);
    if (!found) return [false, null, 'There is no such run.'];
    return [true, found, rowOf(found), `  until ${timeOf(found.ends)}`];
  }
  const isDone = await (command === 'purge' ? keys.purge(cacheKey) : keys.resolve(cacheKey, outcome as 'ran'));
  return [isDone, { done: isDone }, isDone ? 'Done.' : 'There is no such run, or it is in another state.'];
}

/** @throws CommandError for an unknown address, a file that is not there, and a package that is not installed. */
function storeAt(address: string, { namespace, schema, prefix }: Readonly<Record<string, string | undefined>>) {
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
      return postgresStore(new Pool({ connectionString: address }), { schema, prefix });
    }
    case undefined:
      if (existsSync(address)) return sqliteStore(address);
      throw new CommandError(`There is no file ${resolve(address)}.`);
    default:
      throw new CommandError(`There is no store for ${scheme}://. Use redis://, rediss://, postgres://, or a file.`);
  }
}

/** A package of the application, in whose folder the command runs. */
function installed(name: string): unknown {
  try {
    return createRequire(resolve('package.json'))(name);
  } catch (error) {
    throw new CommandError(`The package ${name} is not installed here: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** A line of at most 80 columns, and the cache key below. */
function rowOf({ state, status, created, method, path, cacheKey }: KeyRecord): string {
  const cells = [state.padEnd(7), String(status ?? '').padEnd(3), timeOf(created), method.padEnd(6), path];
  return `${cells.join('  ').slice(0, 80)}\n  ${cacheKey}`;
}

const timeOf = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
