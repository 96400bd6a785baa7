import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { leaseStoreContract, leaseStoreSearch, type LeaseStore } from '../../lib/testing';
import { pageOf, snippetsIn } from './pages';

interface Row {
  readonly expires: number;
  readonly version: string;
}

/** A database with a conditional write, as the page asks for. Each call takes a moment, so that others come in between. */
class Rows {
  readonly rows = new Map<string, Row>();

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

/** The store that docs/stores/write-your-own.md shows. */
function storeOfThePage(): new (table: Rows) => LeaseStore {
  const [snippet] = snippetsIn([pageOf(join(__dirname, '../..'), 'docs/stores/write-your-own.md')]).filter(
    ({ info }) => info === 'lease-store',
  );
  const { outputText } = ts.transpileModule(snippet?.code ?? '', {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS },
  });
  const exports: { TableLeases?: new (table: Rows) => LeaseStore } = {};
  new Function('exports', 'require', outputText)(exports, createRequire(__filename));
  if (!exports.TableLeases) throw new Error('The page shows no TableLeases');
  return exports.TableLeases;
}

const TableLeases = storeOfThePage();

leaseStoreContract(
  'the store of docs/stores/write-your-own.md',
  () => {
    const table = new Rows();
    return { one: new TableLeases(table), other: new TableLeases(table) };
  },
  { watches: false },
);

leaseStoreSearch(
  'the store of docs/stores/write-your-own.md',
  () => {
    const table = new Rows();
    return {
      store: new TableLeases(table),
      expire(key) {
        const row = table.rows.get(key);
        if (row) table.rows.set(key, { ...row, expires: 0 });
      },
    };
  },
  { depth: 4, atOnce: 10 },
);
