import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaseStoreContract, leaseStoreSearch } from '../../lib/testing';
import { failuresOf } from './collected-suite';
import { inTime, onTwoConnections } from './sqlite-files';
import { NOW, statements, type Statements } from './sqlite-leases';

/** One mistake in one statement. */
interface Mistake {
  readonly title: string;
  readonly statement: keyof Statements;
  readonly right: string;
  readonly wrong: string;
  /** The end of the calls by which it is found. */
  readonly step: string;
}

const mistakes: readonly Mistake[] = [
  {
    title: 'renew does not compare the token',
    statement: 'renew',
    right: 'token = :token',
    wrong: ':token = :token',
    step: String.raw`renew\(KEY, '[abc]', \d+\) → true`,
  },
  {
    title: 'complete overwrites the lease or record of another token',
    statement: 'complete',
    right: 'WHERE token = :token',
    wrong: 'WHERE :token = :token',
    step: String.raw`complete\(KEY, '[abc]', \d+\) → true`,
  },
  {
    title: 'release removes the lease of another token',
    statement: 'release',
    right: 'token = :token',
    wrong: ':token = :token',
    step: String.raw`release\(KEY, '[abc]'\) → true`,
  },
  {
    title: 'acquire ignores that the run is done',
    statement: 'acquire',
    right: 'AND NOT done',
    wrong: '',
    step: String.raw`complete\(KEY, '(.)', \d+\) → true\n.*acquire\(KEY, '.', \d+\) → { kind: 'acquired' }`,
  },
  {
    title: 'acquire ignores that a lease has expired',
    statement: 'acquire',
    right: `expires <= ${NOW} OR `,
    wrong: '',
    step: String.raw`what is stored expires\n[^]*acquire\(KEY, '.', \d+\) → { kind: '(running|done)', token: 'a'.*`,
  },
];

describe.each(mistakes)('a store in which $title', ({ statement, right, wrong, step }) => {
  const broken = { ...statements, [statement]: statements[statement].replaceAll(right, wrong) };
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bindonce-mistake-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  /** The promise, what is wrong, and the calls; the last one has got the wrong answer. */
  const says = (promise: string): unknown =>
    expect.stringMatching(
      new RegExp(
        `^The lease store breaks a promise: ${promise}\\.\\n  The last call answered .*; expected .*\\.\\n  Calls:\\n[^]*` +
          `${step.replaceAll('KEY', "'[-0-9a-f]{36}'")}$`,
      ),
    );
  const title = 'answered as the model does, in every sequence of three, and after a lease that has expired';

  it('fails the contract, which names the calls', async () => {
    expect(broken[statement]).not.toBe(statements[statement]);
    const failures = await failuresOf(
      runner => {
        const make = () => onTwoConnections(join(folder, 'leases'), broken);
        leaseStoreContract('broken', make, { watches: false, runner });
      },
      one => one === `steps are ${title}`,
    );
    expect(Object.values(failures)).toEqual([says(`steps are ${title}`)]);
  });

  it('fails the search, which names them, too', async () => {
    const failures = await failuresOf(runner => {
      leaseStoreSearch('broken', () => inTime(join(folder, 'leases'), broken), { depth: 3, runner });
    });
    expect(Object.values(failures)).toEqual([says('answers every sequence of 3 steps .*')]);
  });
});
