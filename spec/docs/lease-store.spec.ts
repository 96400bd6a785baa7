import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as testing from '../../lib/testing';
import { pageOf, snippetsIn, type Block } from './pages';
import { compiled } from './running';

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

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The snippets of the page with this mark. */
const snippets = (mark: string): readonly Block[] =>
  snippetsIn([pageOf(join(__dirname, '../..'), 'docs/stores/write-your-own.md')]).filter(({ info }) => info === mark);

/**
 * Runs a snippet as it is.
 * @param modules what it imports, besides modules of node.
 * @param open the function that the page leaves to its reader.
 * @returns what it exports.
 */
function run(
  snippet: Block | undefined,
  modules: Readonly<Record<string, unknown>> = {},
  open?: () => Promise<object>,
): Readonly<Record<string, unknown>> {
  const exports = {};
  const required = createRequire(__filename);
  const load = (name: string): unknown => modules[name] ?? required(name);
  new Function('exports', 'require', 'open', compiled(snippet?.code ?? ''))(exports, load, open);
  return exports;
}

const table = new Rows();
const modules = {
  'bindonce/testing': testing,
  './table-leases.js': run(snippets('table-leases')[0]),
};

it('the page shows a store, and a program that proves it', () => {
  expect([snippets('table-leases').length, snippets('lease-store-proof').length]).toEqual([1, 1]);
});

// It declares the tests of the suite that it calls.
run(snippets('lease-store-proof')[0], modules, () => Promise.resolve(table));
