import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutations, type Edit } from './mutations';
import { runStorm } from './run-storm';

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
