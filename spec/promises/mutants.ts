import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { promisesIn, type KeptPromise } from './promises';

/** Breaks each promise by its mutant, in a copy of the tree, and shows whether its spec fails. */

const { values: options } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [] } } });
const root = join(__dirname, '../../..');
const chosen = promisesIn(root).filter(
  ({ promise, spec }) => options.only.length === 0 || options.only.some(part => `${spec} ${promise}`.includes(part)),
);
const copy = mkdtempSync(join(tmpdir(), 'bindonce-mutants-'));
const report = join(copy, 'report.json');
/** Milliseconds after which a test, or a whole spec, hangs, which counts as a failure. */
const LONGEST = { test: 40_000, spec: 150_000 };

interface Report {
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function copyTree(): void {
  for (const name of ['lib', 'spec', 'dist', 'package.json', 'jest.config.js', 'tsconfig.json'])
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      preserveTimestamps: true,
      filter: path => !/(^|\/)node_modules$/.test(relative(root, path)),
    });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
}

const patternOf = (title: readonly string[]): string =>
  title.map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*');

/** Specs that start processes run the built code. A mutant need not have correct types. */
const build = (): unknown =>
  spawnSync(process.execPath, ['node_modules/typescript-7/bin/tsc', '-b', '.'], { cwd: copy, stdio: 'ignore' });

/** Runs the tests whose names match. @returns undefined if they hang. */
async function run(specs: readonly string[], pattern: string): Promise<Report | undefined> {
  rmSync(report, { force: true });
  const projects = [
    '--selectProjects',
    'spec',
    'long',
    '--maxWorkers=1',
    '--forceExit',
    `--testTimeout=${LONGEST.test}`,
  ];
  const child = spawn(
    process.execPath,
    ['node_modules/jest/bin/jest.js', ...projects, '--json', '--outputFile', report, '-t', pattern, ...specs],
    { cwd: copy, stdio: 'ignore', detached: true },
  );
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, LONGEST.spec * specs.length);
  await new Promise(resolve => child.once('exit', resolve));
  clearTimeout(timer);
  return existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Report) : undefined;
}

/** Runs all specs without a mutant. @returns the promises whose specs hold. */
async function holding(): Promise<readonly KeptPromise[]> {
  const patterns = new Set(chosen.map(({ title }) => patternOf(title)));
  const result = await run([...new Set(chosen.map(({ spec }) => spec))], [...patterns].join('|'));
  return chosen.filter(({ spec, title }) => {
    const own = result?.testResults
      .filter(({ name }) => name.endsWith(spec))
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ fullName }) => new RegExp(patternOf(title)).test(fullName));
    return own?.some(({ status }) => status === 'passed') && !own.some(({ status }) => status === 'failed');
  });
}

async function outcomeOf({ spec, title, mutant: { file, find, replace } }: KeptPromise): Promise<string> {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  try {
    writeFileSync(path, text.split(find).join(replace));
    if (/NodeProcess|dist\//.test(readFileSync(join(copy, spec), 'utf8'))) build();
    const result = await run([spec], patternOf(title));
    if (!result) return 'caught (hangs)';
    if (result.numRuntimeErrorTestSuites > 0) return 'BROKEN: the spec does not start';
    return result.numFailedTests > 0 ? 'caught' : 'SURVIVED';
  } finally {
    writeFileSync(path, text);
  }
}

async function main(): Promise<void> {
  copyTree();
  const held = await holding();
  const rows: { outcome: string; seconds: number; promise: string }[] = [];
  for (const one of chosen) {
    const begun = performance.now();
    const outcome = held.includes(one) ? await outcomeOf(one) : 'FAILS without a mutant';
    rows.push({ outcome, seconds: Math.round((performance.now() - begun) / 1_000), promise: one.promise });
    console.log(`${outcome}: ${one.promise} (${one.spec}, ${one.title.join(' > ')})`);
  }
  console.table(rows);
  const caught = rows.filter(({ outcome }) => outcome.startsWith('caught')).length;
  console.log(`${caught} of ${rows.length} mutants caught`);
  process.exitCode = caught === rows.length ? 0 : 1;
}

void main().finally(() => {
  rmSync(copy, { recursive: true, force: true });
});
