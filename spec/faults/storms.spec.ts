import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FLUSHED, serverFaults, storeFaults } from './faults';
import { mutations, type Edit } from './mutations';
import { runStorm } from './run-storm';

// One file, so that no two storms share the machine: each has seven processes, which stall each other.

const kinds = [...serverFaults, ...storeFaults].map(({ kind }) => kind).sort();

it.each(['redis', 'postgres'])(
  'a storm over %s breaks no promise: every kind of fault, five hundred keys, no violation',
  async store => {
    const flags = `--store ${store} --seed 20261121 --keys 500 --faults 30`;
    const { violations, faults, keys, hangUps, answers, executions } = await runStorm(flags);
    expect([violations, Object.keys(faults).sort()]).toEqual([[], kinds]);
    expect(keys).toBeGreaterThanOrEqual(500);
    expect(hangUps).toBeGreaterThan(50);
    expect(answers).toBeGreaterThan(keys);
    expect(executions).toBeGreaterThanOrEqual(keys);
  },
  420_000,
);

it('a storm over PostgreSQL keeps one order for each key that is answered, that of the answer, where both are one transaction', async () => {
  const flags = '--store postgres --exactly-once --seed 20261128 --keys 200 --faults 30';
  const { violations, faults, keys, answers, executions } = await runStorm(flags);
  expect([violations, Object.keys(faults).sort()]).toEqual([[], kinds.filter(kind => kind !== FLUSHED)]);
  expect(answers).toBeGreaterThan(keys);
  expect(executions).toBeGreaterThan(keys);
}, 420_000);

const root = join(__dirname, '../..');

/** A copy of the built library in which some lines are replaced. */
function breakLibrary(edits: readonly Edit[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'bindonce-broken-'));
  cpSync(join(root, 'dist'), join(directory, 'dist'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  for (const { file, line, broken } of edits) {
    const path = join(directory, 'dist', file);
    const parts = readFileSync(path, 'utf8').split(line);
    expect(parts).toHaveLength(2);
    writeFileSync(path, parts.join(broken));
  }
  return directory;
}

describe('a storm finds the mistake when', () => {
  it.each(mutations.map(mutation => [mutation.title, mutation] as const))(
    '%s',
    async (_title, { also, storm, verdict, ...edit }) => {
      const directory = breakLibrary(also ? [edit, also] : [edit]);
      try {
        const library = join(directory, 'dist/index.js');
        const { violations } = await runStorm('--seed 1 --keys 500 --faults 0', ...storm, '--library', library);
        expect(violations.filter(violation => verdict.test(violation))).not.toEqual([]);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
    420_000,
  );
});
