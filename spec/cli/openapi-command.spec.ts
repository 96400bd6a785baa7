import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');

/** A folder in the repository, where modules find packages by their names. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'spec/support/run-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Runs the command in the folder, as `npx bindonce` does. */
function bindonce(...args: string[]) {
  const options = { cwd: folder, encoding: 'utf8', timeout: 60_000 } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'dist/cli/bindonce.js'), ...args],
    options,
  );
  return { status, stdout, stderr };
}

const parts = (bindonce: string, express: string): string =>
  `${bindonce}; ${express}; const app = express(); app.post('/orders', bindRequest(dto({ a: int })));\n`;
const ofModule = parts("import { bindRequest, dto, int } from 'bindonce'", "import express from 'express'");
const required = parts("const { bindRequest, dto, int } = require('bindonce')", "const express = require('express')");

/** Writes a module of which an application is a part. */
const write = (name: string, code: string): void => {
  writeFileSync(join(folder, name), (name.endsWith('.cjs') ? required : ofModule) + code);
};

it('bindonce openapi writes the document to standard output, or a file that it checks', () => {
  write('app.mjs', 'export { app };');
  const { status, stdout, stderr } = bindonce('openapi', 'app.mjs', '--title', 'Shop', '--version', '2.0.0');
  expect([status, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({
    openapi: '3.1.1',
    info: { title: 'Shop', version: '2.0.0' },
    paths: { '/orders': { post: { operationId: 'postOrders' } } },
  });
  const checks = (): number | null => bindonce('openapi', 'app.mjs', '-o', 'docs/api.json', '--check').status;
  expect([checks(), bindonce('openapi', 'app.mjs', '-o', 'docs/api.json').status]).toEqual([1, 0]);
  const { mtimeMs } = statSync(join(folder, 'docs/api.json'));
  expect([checks(), bindonce('openapi', 'app.mjs', '-o', 'docs/api.json').status]).toEqual([0, 0]);
  expect(statSync(join(folder, 'docs/api.json')).mtimeMs).toBe(mtimeMs);
  write('app.mjs', "app.get('/', bindRequest(dto({}))); export { app };");
  expect(checks()).toBe(1);
});

/** What TypeScript writes at the beginning of an ES module that it compiles to CommonJS. */
const COMPILED = "Object.defineProperty(exports, '__esModule', { value: true });";

it.each([
  ['as app', 'exports.app = app;'],
  ['as the default export of a compiled module', `${COMPILED} exports.default = app;`],
  ['as app in the default export of a compiled module', `${COMPILED} exports.default = { app };`],
  ['returned from all that is exported', 'module.exports = () => app;'],
  ['returned from the default export of a compiled module', `${COMPILED} exports.default = async () => app;`],
  ['returned from createApp, in time', 'exports.createApp = async (options = {}) => app;'],
])('finds the application of a CommonJS module: %s', (_how, code) => {
  write('app.cjs', code);
  const { status, stdout, stderr } = bindonce('openapi', 'app.cjs');
  expect([status, stderr]).toEqual([0, '']);
  expect(Object.keys((JSON.parse(stdout) as { paths: object }).paths)).toEqual(['/orders']);
});

it('title and version are those of the package that the module is in, and options those of another module', () => {
  writeFileSync(join(folder, 'package.json'), '{"name":"shop","version":2}');
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'dist/package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'dist/app.js'), "import express from 'express';\nexport default express();\n");
  expect(JSON.parse(bindonce('openapi', 'dist/app.js').stdout)).toMatchObject({
    info: { title: 'shop', version: '2' },
  });
  const options = { info: { title: 'Shop', version: '3' }, servers: [{ url: '/v3' }] };
  for (const [name, start] of [
    ['options.mjs', 'export default'],
    ['options.cjs', `${COMPILED} exports.default =`],
  ] as const) {
    writeFileSync(join(folder, name), `${start} ${JSON.stringify(options)};`);
    expect(JSON.parse(bindonce('openapi', 'dist/app.js', '--options', name).stdout)).toMatchObject(options);
  }
});

const NOT_FINISHED = 'not finished: broken.mjs has ended the process, or waits for something forever.';

it.each<[string, string[], number, string, string?]>([
  ['no command', [], 2, 'Name a command.\n\nUsage: bindonce <command>'],
  ['an unknown command', ['opnapi'], 2, 'There is no command "opnapi".\n\nUsage: bindonce <command>'],
  ['no module', ['openapi'], 2, 'Name one module.'],
  ['two modules', ['openapi', 'a.mjs', 'b.mjs'], 2, 'Name one module.'],
  ['an unknown option', ['openapi', 'a.mjs', '--chek'], 2, "Unknown option '--chek'."],
  ['--check without a file', ['openapi', 'a.mjs', '--check'], 2, '--check needs the file to compare with: -o <file>.'],
  ['a missing module', ['openapi', 'nope.mjs'], 1, 'There is no file '],
  ['a folder', ['openapi', '.'], 1, '. is a folder. Name a module in it.'],
  ...[
    ...['exports.createApp = config => app;', 'exports.createApp = class {};', 'exports.resetApp = () => app;'],
    `${COMPILED} exports.default = null;`,
  ].map((code): [string, string[], number, string, string] => [
    `what is no application: ${code}`,
    ['openapi', 'broken.cjs'],
    2,
    'broken.cjs exports no Express application. Export it as `app` or by default, or export a function without ',
    required + code,
  ]),
  ['options that are none', ['openapi', 'app.mjs', '--options', 'broken.mjs'], 2, 'broken.mjs has no default export'],
  ['a folder to write', ['openapi', 'app.mjs', '-o', '.'], 2, '. is not a file that can be written: EISDIR'],
  [
    'a module that throws',
    ['openapi', 'broken.mjs'],
    1,
    'broken.mjs could not be loaded. Its error is:\nError: not today\n    at ',
    "throw new Error('not today')",
  ],
  ['one that waits forever', ['openapi', 'broken.mjs'], 2, NOT_FINISHED, 'await new Promise(() => undefined)'],
  ['one that ends the process', ['openapi', 'broken.mjs'], 2, NOT_FINISHED, 'process.exit()'],
  [
    'options with a mistake',
    ['openapi', 'app.mjs', '--options', 'broken.mjs'],
    2,
    'broken.mjs: openapi: there is no option "servrs"; did you mean "servers"?\n',
    'export default { servrs: [] }',
  ],
])('refuses %s', (_what, args, status, message, broken = '') => {
  write('app.mjs', 'export { app };');
  for (const name of ['broken.mjs', 'broken.cjs']) writeFileSync(join(folder, name), broken);
  const stderr = expect.stringContaining(`bindonce: ${message}`) as string;
  expect(bindonce(...args)).toEqual({ status, stdout: '', stderr });
});

it.each([
  [['--help'], /^Usage: bindonce <command>/],
  [['-h'], /^Usage: bindonce <command>/],
  [['openapi', '--help'], /^Usage: bindonce openapi/],
  [['generate', '-h'], /^Usage: bindonce generate/],
  [['--version'], /^\d+\.\d+\.\d+\n$/],
])('the command explains itself, and says its version: %j', (args, text) => {
  expect(bindonce(...args)).toEqual({ status: 0, stdout: expect.stringMatching(text) as string, stderr: '' });
});
