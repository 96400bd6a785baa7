import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaseStoreContract, leaseStoreSearch } from '../../lib/testing';
import { failuresOf } from './collected-suite';
import { inTime, onTwoConnections } from './sqlite-files';
import { NOW, statements, type Statements } from './sqlite-leases';

/** One mistake in one statement, and the facts of the contract that find it. */
interface Mistake {
  readonly title: string;
  readonly statement: keyof Statements;
  readonly right: string;
  readonly wrong: string;
  readonly foundBy: readonly string[];
  /** The end of the sequence by which the search finds it. */
  readonly step: string;
}

/** The facts about a late holder: it does a step while the next holder has come to one of three states. */
const late = (...steps: readonly string[]): string[] =>
  steps.flatMap(step =>
    ['is running', 'is done', 'has given up and a third is running'].map(
      state => `a holder that comes back after its lease expired ${step} without effect while the next ${state}`,
    ),
  );

const mistakes: readonly Mistake[] = [
  {
    title: 'renew does not compare the token',
    statement: 'renew',
    right: 'token = :token',
    wrong: ':token = :token',
    foundBy: [
      'renew is false for another token, and changes nothing',
      'renew is false once the lease has expired and another token has acquired it',
      ...late('renews').filter(fact => !fact.endsWith('is done')),
    ],
    step: 'renew by "b" → true',
  },
  {
    title: 'complete overwrites the lease or record of another token',
    statement: 'complete',
    right: 'WHERE token = :token',
    wrong: 'WHERE :token = :token',
    foundBy: [
      'complete is false for another token, and changes nothing',
      'complete is false once another run is done, and changes nothing',
      ...late('completes'),
    ],
    step: 'complete by "b" → true',
  },
  {
    title: 'release removes the lease of another token',
    statement: 'release',
    right: 'token = :token',
    wrong: ':token = :token',
    foundBy: [
      'release is false for another token, and changes nothing',
      'release may be repeated, and does no harm to the token that came after',
      ...late('releases'),
    ],
    step: 'release by "b" → true',
  },
  {
    title: 'acquire ignores that the run is done',
    statement: 'acquire',
    right: 'AND NOT done',
    wrong: '',
    foundBy: ['acquire is done for every token, its own too, once the run is completed'],
    step: 'complete by "a" → true\n  acquire by "a" → { kind: \'acquired\' }',
  },
  {
    title: 'acquire ignores that a lease has expired',
    statement: 'acquire',
    right: `expires <= ${NOW} OR `,
    wrong: '',
    foundBy: [
      'acquire takes a lease that has expired',
      'acquire takes a lease whose record has expired',
      'renew is false once the lease has expired and another token has acquired it',
      'complete is still accepted when the lease has expired and no token has acquired it since',
      ...late('completes', 'releases', 'renews'),
    ],
    step: "what is stored expires\n  acquire by \"d\" → { kind: 'running', token: 'a' }",
  },
];

describe.each(mistakes)('a store in which $title', ({ statement, right, wrong, foundBy, step }) => {
  const broken = { ...statements, [statement]: statements[statement].replaceAll(right, wrong) };
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bindonce-mistake-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('fails these facts of the contract, which say so', async () => {
    expect(broken[statement]).not.toBe(statements[statement]);
    const failures = await failuresOf(runner => {
      leaseStoreContract('broken', () => onTwoConnections(join(folder, 'leases'), broken), { watches: false, runner });
    });
    expect(Object.keys(failures)).toEqual(expect.arrayContaining([...foundBy]));
    for (const [title, message] of Object.entries(failures))
      expect(message).toContain(`The lease store breaks a promise: ${title}.\n`);
  });

  it('fails the search, which names the steps', async () => {
    const failures = await failuresOf(runner => {
      leaseStoreSearch('broken', () => inTime(join(folder, 'leases'), broken), { depth: 3, runner });
    });
    expect(Object.values(failures)).toEqual([expect.stringContaining(step)]);
  });
});
