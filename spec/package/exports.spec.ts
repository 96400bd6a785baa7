import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { mistakesIn } from '../support/compile';

const root = join(__dirname, '../..');
const { exports: entries, typesVersions } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>;
  typesVersions: Record<'*', Record<string, string[]>>;
};
const subPaths = Object.keys(entries).filter(path => path !== '.' && path !== './package.json');

/** Every file that an entry names, under any condition. */
const filesOf = (entry: unknown): string[] =>
  typeof entry === 'string' ? [entry] : Object.values(entry as object).flatMap(filesOf);

/** Runs a program with the package that was built. */
function output(kind: 'commonjs' | 'module', program: string): string {
  const args = ['--test-reporter=tap', `--input-type=${kind}`, '--eval', program];
  return execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

it.each(Object.entries(entries))('the files of the entry %s exist', (_path, entry) => {
  expect(filesOf(entry).filter(file => !existsSync(join(root, file)))).toEqual([]);
});

it('a compiler that does not read `exports` finds the types of each sub-path', () => {
  const found = Object.entries(typesVersions['*']).map(([path, [file]]) => [`./${path}`, file]);
  expect(found.map(([path]) => path)).toEqual(subPaths);
  for (const [path = '', file] of found) expect(filesOf(entries[path])).toContain(file);
});

it.each(['testing', 'client'])('bindonce/%s loads nothing but its own files', name => {
  const program = `
    require('bindonce/${name}');
    const inDist = Object.keys(require.cache).map(file => require('node:path').relative('dist', file));
    console.log(JSON.stringify(inDist.filter(file => !/^${name}[./]/.test(file))));`;
  expect(output('commonjs', program)).toBe('[]\n');
});

describe('bindonce/testing', () => {
  it('is imported by name and required, as one module', () => {
    const program = `
      import { createRequire } from 'node:module';
      import { leaseStoreContract, storeContract } from 'bindonce/testing';
      const required = createRequire(process.cwd() + '/x.js')('bindonce/testing');
      console.log(required.leaseStoreContract === leaseStoreContract, required.storeContract === storeContract);`;
    expect(output('module', program)).toBe('true true\n');
  });

  it('says what to pass where there is no test runner', () => {
    const program = `
      import { leaseStoreContract } from 'bindonce/testing';
      try { leaseStoreContract('a store', () => undefined); } catch (error) { console.log(String(error)); }`;
    expect(output('module', program)).toBe(
      'TypeError: leaseStoreContract: there is no describe, no it, no after (or afterAll) among the global functions. ' +
        "Pass those of your test runner: import * as runner from 'node:test' (or 'vitest'), and { runner } as the third argument.\n",
    );
  });

  it('runs under node:test', () => {
    const program = `
      import * as runner from 'node:test';
      import { memoryLeases } from 'bindonce';
      import { leaseStoreContract } from 'bindonce/testing';
      leaseStoreContract('memoryLeases()', () => { const leases = memoryLeases(); return { one: leases, other: leases }; }, { runner });`;
    const text = output('module', program);
    expect(text).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(text)?.[1])).toBe(12);
  });
});

describe('bindonce/client', () => {
  const use = `
    const answers = [503, 201];
    const send = idempotentFetch({ baseDelay: 1, fetch: async () => new Response(null, { status: answers.shift() }) });
    send('http://shop/', { method: 'POST', body: 'x' }).then(({ response, attempts }) => { console.log(response.status, attempts); });`;

  it.each([
    ['module', "import { idempotentFetch } from 'bindonce/client';"],
    ['commonjs', "const { idempotentFetch } = require('bindonce/client');"],
  ] as const)('works as %s', (kind, imports) => {
    expect(output(kind, imports + use)).toBe('201 2\n');
  });

  it('is an ES module for bundlers and browsers: of its own files, named with their extension, and without Node', () => {
    const folder = join(root, 'dist/esm');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.js'));
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) {
      const text = readFileSync(join(folder, file), 'utf8');
      const imported = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
      expect(imported.filter(name => !existsSync(join(folder, dirname(file), name)))).toEqual([]);
      expect(text).not.toMatch(/\brequire\(|\bexports\.|'node:/);
    }
  });

  it.each([
    ['browsers', { lib: ['es2022', 'dom'], types: [], module: 'esnext', moduleResolution: 'bundler' }],
    ['Node', { lib: ['es2022'], types: ['node'], module: 'nodenext' }],
  ])('has types for %s, without those of the other', (_where, options) => {
    const program = readFileSync(join(__dirname, 'client-program.ts'), 'utf8');
    const compilerOptions = { ...options, target: 'es2022', strict: true };
    expect(mistakesIn({ 'program.ts': program }, { compilerOptions })).toEqual([]);
  });
});
