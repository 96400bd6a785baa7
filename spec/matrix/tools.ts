import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testProgram, tsProgram } from './programs';
import type { Cell, NodeVersion, Project } from './project';

type Decorators = 'standard' | 'legacy';
const both: readonly Decorators[] = ['standard', 'legacy'];

const replayed = /^replayed$/m;
/** What decorators that a tool leaves in come to: no code has run that could say more. */
const syntaxError = /SyntaxError: Invalid or unexpected token/;
const noMetadata =
  /TypeError: routeParam: the decorator of customerId got no context\.metadata: .* or dto\(\{\.\.\.\}\), which works everywhere/;

/** Programs and tests in a folder for each kind of decorators, whose tsconfig.json tools find by themselves. */
const programs: Readonly<Record<string, string>> = Object.assign(
  {},
  ...both.map(kind => ({
    [`${kind}/dto.ts`]: tsProgram('dto'),
    [`${kind}/decorators.ts`]: tsProgram('decorators'),
    [`${kind}/dto.test.ts`]: testProgram('dto'),
    [`${kind}/decorators.test.ts`]: testProgram('decorators'),
    [`${kind}/tsconfig.json`]: JSON.stringify({
      compilerOptions: {
        ...{ target: 'es2022', module: 'nodenext', lib: ['es2023', 'dom', 'esnext.decorators'] },
        ...{ types: ['node', 'jest'], strict: true, isolatedModules: true, rootDir: '.', outDir: 'out' },
        experimentalDecorators: kind === 'legacy',
      },
      include: ['*.ts'],
    }),
  })),
);

const express = { express: '5', '@types/express': '5', '@types/node': '22', '@types/jest': '30' };

function project(
  name: string,
  packages: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
  cells: readonly Cell[],
  node: NodeVersion = '24',
): Project {
  const all = { packages: { ...express, ...packages }, files: { ...programs, ...files } };
  return { area: 'tools', name, manager: 'npm', node, ...all, cells };
}

/** The three ways to declare a dto, as a tool gets them. */
function threeWays(
  command: (file: 'dto' | 'decorators', decorators: Decorators) => Cell['command'],
  prints: RegExp,
  standard: Partial<Cell> = {},
): Cell[] {
  return [
    { name: 'dto({...})', command: command('dto', 'standard'), prints },
    { name: 'standard decorators', command: command('decorators', 'standard'), prints, ...standard },
    { name: 'legacy decorators', command: command('decorators', 'legacy'), prints },
  ];
}

/** Jest, with a transformer for each kind of decorators. */
function jest(
  name: string,
  packages: Readonly<Record<string, string>>,
  transformer: (decorators: Decorators) => unknown,
): Project {
  const files = Object.fromEntries(
    both.map(kind => [
      `jest.${kind}.json`,
      JSON.stringify({
        testEnvironment: 'node',
        testMatch: [`**/${kind}/*.test.ts`],
        transform: { '\\.ts$': transformer(kind) },
      }),
    ]),
  );
  return project(
    name,
    { jest: '30', ...packages },
    files,
    threeWays((file, kind) => ['jest', '-c', `jest.${kind}.json`, `${file}.test`], /1 passed, 1 total/),
  );
}

const swc = (kind: Decorators) => ({
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: kind === 'legacy' ? { legacyDecorator: true } : { decoratorVersion: '2022-03' },
  },
});

export function tools(root: string): readonly Project[] {
  const bundle = { 'bundle.mjs': readFileSync(join(root, 'spec/matrix/bundle.mjs'), 'utf8') };
  const bundled = (tool: string, standard: Partial<Cell> = {}): Cell[] =>
    threeWays((file, kind) => ['node', 'bundle.mjs', tool, `${kind}/${file}.ts`, kind], replayed, standard);
  const alone = (tool: string, name: string, failsWith: RegExp): Cell => ({
    name: `${name}, standard decorators (cannot work)`,
    command: ['node', 'bundle.mjs', tool, 'standard/decorators.ts', 'standard'],
    failsWith,
  });
  return [
    jest('ts-jest', { 'ts-jest': '29', typescript: '6' }, kind => [
      'ts-jest',
      { tsconfig: `<rootDir>/${kind}/tsconfig.json` },
    ]),
    jest('@swc/jest', { '@swc/jest': '0.2', '@swc/core': '1' }, kind => ['@swc/jest', swc(kind)]),
    project(
      'vitest',
      { vitest: '5' },
      { 'vitest.config.mjs': 'export default { test: { globals: true } };\n' },
      threeWays((file, kind) => ['vitest', 'run', `${kind}/${file}.test.ts`], /1 passed/, {
        name: 'standard decorators (cannot work)',
        failsWith: syntaxError,
      }),
    ),
    project(
      'tsx',
      { tsx: '4' },
      {},
      threeWays((file, kind) => ['tsx', '--tsconfig', `${kind}/tsconfig.json`, `${kind}/${file}.ts`], replayed),
    ),
    project(
      'type stripping of Node',
      {},
      {},
      (['22', '24', '26'] as const).flatMap((node): Cell[] => [
        { name: 'dto({...})', node, command: ['node', 'standard/dto.ts'], prints: replayed },
        { name: 'decorators (cannot work)', node, command: ['node', 'standard/decorators.ts'], failsWith: syntaxError },
      ]),
    ),
    project('esbuild', { esbuild: '0', 'esbuild-0.21': 'npm:esbuild@0.21.0' }, bundle, [
      ...bundled('esbuild'),
      alone('esbuild without target', 'without target', syntaxError),
      alone('esbuild 0.21.0', '0.21.0', noMetadata),
    ]),
    project(
      'webpack with ts-loader',
      { webpack: '5', 'ts-loader': '9', typescript: '6' },
      bundle,
      bundled('webpack with ts-loader'),
    ),
    project(
      'webpack with swc-loader',
      { webpack: '5', 'swc-loader': '0.2', '@swc/core': '1' },
      bundle,
      bundled('webpack with swc-loader'),
    ),
    project('Rollup', rollup, bundle, bundled('rollup')),
    project('Babel', babel, bundle, [...bundled('babel 2023-11'), alone('babel 2023-01', '2023-01', noMetadata)]),
  ];
}

const plugins = (prefix: string, versions: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(versions).map(([name, version]) => [`${prefix}${name}`, version]));
const rollup = {
  rollup: '4',
  ...plugins('@rollup/plugin-', { typescript: '12', 'node-resolve': '16', commonjs: '29', json: '6' }),
  ...{ tslib: '2', typescript: '6' },
};
const babel = {
  ...{ '@babel/core': '7', '@babel/plugin-transform-typescript': '7', '@babel/plugin-proposal-decorators': '7' },
  ...plugins('@babel/plugin-transform-', {
    ...{ 'class-properties': '7', 'class-static-block': '7', 'modules-commonjs': '7' },
  }),
};
