import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaseStoreContract, leaseStoreSearch, type LeaseStore } from '../../lib/testing';
import { onTwoConnections, open, inTime } from './sqlite-files';
import { SqliteLeases } from './sqlite-leases';

const folder = mkdtempSync(join(tmpdir(), 'bindonce-sqlite-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

leaseStoreContract('SqliteLeases on two connections', () => onTwoConnections(join(folder, 'connections')), {
  watches: false,
});

leaseStoreContract(
  'SqliteLeases in two processes',
  () => {
    const file = join(folder, 'processes');
    const database = open(file);
    const { leases: other, end } = leasesOfAnotherProcess(file);
    const close = async (): Promise<void> => {
      await end();
      database.close();
    };
    return { one: new SqliteLeases(database), other, close };
  },
  { watches: false },
);

leaseStoreSearch('SqliteLeases', () => inTime(join(folder, 'search')), { depth: 3 });

it('SqliteLeases deletes what has expired, and nothing else', async () => {
  const database = open(join(folder, 'sweep'));
  const leases = new SqliteLeases(database);
  await leases.acquire('expired', 'a', 1);
  await leases.acquire('running', 'a', 60_000);
  await leases.complete('done', 'a', 60_000);
  while ((await leases.acquire('expired', 'b', 1)).kind !== 'acquired') continue;
  while (await leases.renew('expired', 'b', 1)) continue;
  await leases.sweep();
  expect(database.get('SELECT count(*) AS kept FROM leases')).toEqual({ kept: 2 });
  database.close();
});

/** A lease store whose steps another process carries out. */
function leasesOfAnotherProcess(file: string): { readonly leases: LeaseStore; end(): Promise<unknown> } {
  const child = fork(join(__dirname, 'lease-process.cjs'), [file]);
  const answers = new Map<number, (answer: never) => void>();
  let id = 0;
  child.on('message', (message: { id: number; answer: never }) => {
    answers.get(message.id)?.(message.answer);
    answers.delete(message.id);
  });
  const ask = <T>(method: string, ...args: unknown[]): Promise<T> =>
    new Promise<T>(resolve => {
      answers.set(++id, resolve);
      child.send({ id, method, args });
    });
  return {
    leases: {
      acquire: (...args) => ask('acquire', ...args),
      renew: (...args) => ask('renew', ...args),
      complete: (...args) => ask('complete', ...args),
      release: (...args) => ask('release', ...args),
    },
    end() {
      child.disconnect();
      return once(child, 'exit');
    },
  };
}
