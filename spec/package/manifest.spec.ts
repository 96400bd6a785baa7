import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(__dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'peerDependencies' | 'scripts',
  Record<string, string>
>;
const { dependencies, peerDependencies, scripts } = manifest;
const declared = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' });

describe('the packages that the package refers to', () => {
  it("are declared, as pnpm without hoisting and Yarn Plug'n'Play demand: the compiled code", () => {
    const required = files
      .filter(file => file.endsWith('.js'))
      .flatMap(importsOf)
      .map(({ name }) => packageOf(name));
    expect(undeclared(required)).toEqual([]);
    expect(required).toContain('object-hash');
  });

  it('are declared: the declarations, and what declares the types of these', () => {
    const referred = files
      .filter(file => file.endsWith('.d.ts'))
      .flatMap(importsOf)
      .flatMap(({ name, from }) => [packageOf(name), typesOf(name, from)]);
    expect(undeclared(referred)).toEqual([]);
    expect(referred).toContain('@types/express');
  });
});

describe('the files of the package', () => {
  it('is no claim that modules have no side effects: bundlers would drop the one that sets Symbol.metadata', () => {
    expect(manifest).not.toHaveProperty('sideEffects');
  });

  it('are at most 480, none of them a source map of a file that is not there', () => {
    const command = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const [packed] = JSON.parse(execFileSync('npm', command, { cwd: root, encoding: 'utf8' })) as [
      { files: { path: string }[] },
    ];
    expect(packed.files.filter(({ path }) => path.endsWith('.map'))).toEqual([]);
    expect(packed.files.length).toBeLessThanOrEqual(480);
  });

  it('contain no script that npm runs on installation', () => {
    expect(Object.keys(scripts).filter(name => /^(pre|post)?(install|prepare)$/.test(name))).toEqual([]);
  });
});

it('records no download address in the lock file', () => {
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toContain('"resolved": "http');
});

const undeclared = (names: readonly string[]): string[] => [...new Set(names)].filter(name => !declared.has(name));

/** What a file imports, augments or references, other than its neighbours and Node's own modules. */
function importsOf(file: string): { name: string; from: string }[] {
  const from = join(root, 'dist', file);
  const {
    importedFiles,
    typeReferenceDirectives,
    ambientExternalModules = [],
  } = ts.preProcessFile(readFileSync(from, 'utf8'), true, true);
  const names = [...importedFiles, ...typeReferenceDirectives]
    .map(({ fileName }) => fileName)
    .concat(ambientExternalModules);
  return names.filter(name => !name.startsWith('.') && !isBuiltin(name)).map(name => ({ name, from }));
}

const packageOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

/** The package that a module's types are in: its own, or one of `@types`. */
function typesOf(name: string, from: string): string {
  const { resolvedModule } = ts.resolveModuleName(
    name,
    from,
    { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
    ts.sys,
  );
  return resolvedModule?.packageId?.name ?? `${name} (no types found)`;
}
