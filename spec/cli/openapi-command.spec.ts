import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TemporaryDirectory } from '../support/temporary-directory';

const root = join(__dirname, '../..');
const programs = join(root, 'spec/support/programs');
const app = join(programs, 'described-app.mjs');

function node(args: readonly string[], cwd?: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', timeout: 60_000 });
  return { status, stdout, stderr };
}

/** Runs the command as `npx bindonce` does. */
const bindonce = (...args: string[]) => node([join(root, 'dist/cli/bindonce.js'), ...args]);

describe('bindonce openapi', () => {
  let directory: TemporaryDirectory;
  let file: string;
  /** A folder in the repository, where modules find packages by their names. */
  let folder: string;
  beforeEach(() => {
    directory = new TemporaryDirectory();
    file = join(directory.path, 'openapi.json');
    folder = mkdtempSync(join(root, 'spec/support/run-'));
  });
  afterEach(() => {
    directory.remove();
    rmSync(folder, { recursive: true });
  });

  /** Writes a module that has an application. */
  function moduleOf(code: string): string {
    const path = join(folder, 'server.mjs');
    const start = `import { bindRequest, dto, int } from 'bindonce';
      import express from 'express';
      const handler = bindRequest(dto({ a: int }));
      const app = express();
      app.post('/orders', handler);
    `;
    writeFileSync(path, start + code);
    return path;
  }

  it('writes the document to standard output', () => {
    const { status, stdout, stderr } = bindonce('openapi', app, '--title', 'Shop', '--version', '2.0.0');
    expect([status, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      openapi: '3.1.1',
      info: { title: 'Shop', version: '2.0.0' },
      paths: { '/orders': { post: { operationId: 'postOrders' } } },
    });
  });

  it.each([
    [
      'has the package.json of a folder in between',
      '{"name":"shop","version":"1.2.3"}',
      { title: 'shop', version: '1.2.3' },
    ],
    ['has a name that is an object', '{"name":{"a":1},"version":["2"]}', { title: 'API', version: '0.0.0' }],
    ['has a version that is a number', '{"version":2}', { title: 'API', version: '2' }],
  ])('takes title and version from the package that the module is in, if it %s', (_what, text, info) => {
    writeFileSync(join(folder, 'package.json'), text);
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist/package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'dist/app.js'), "import express from 'express';\nexport const app = express();\n");
    expect(JSON.parse(bindonce('openapi', join(folder, 'dist/app.js')).stdout)).toMatchObject({ info });
  });

  it('takes its options from a module', () => {
    const options = join(directory.path, 'options.mjs');
    writeFileSync(options, "export default { info: { title: 'Shop', version: '3' }, servers: [{ url: '/v3' }] };");
    const { stdout } = bindonce('openapi', app, '--options', options);
    expect(JSON.parse(stdout)).toMatchObject({ info: { title: 'Shop', version: '3' }, servers: [{ url: '/v3' }] });
  });

  it.each([
    ["{ servrs: [{ url: '/v3' }] }", 'there is no option "servrs"; did you mean "servers"?'],
    ['{ info: { title: 5 } }', 'info must be { title, version }'],
  ])('refuses options that are %s, in one sentence', (code, message) => {
    const options = join(directory.path, 'options.mjs');
    writeFileSync(options, `export default ${code};`);
    const { status, stdout, stderr } = bindonce('openapi', moduleOf('export { app };'), '--options', options);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^[^\n]*\n$/);
    expect(stderr).toContain(`bindonce: ${options}: openapi: ${message}`);
  });

  it('writes a file, leaves it alone if nothing changes, and checks it', () => {
    expect(bindonce('openapi', app, '-o', file, '--check')).toMatchObject({
      status: 1,
      stderr: `${file} is not up to date. Run the same command without --check.\n`,
    });
    expect(bindonce('openapi', app, '-o', file).status).toBe(0);
    const { mtimeMs } = statSync(file);
    expect(bindonce('openapi', app, '-o', file).status).toBe(0);
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
    expect(bindonce('openapi', app, '-o', file, '--check').status).toBe(0);
    writeFileSync(file, readFileSync(file, 'utf8').replace('/orders', '/order'));
    expect(bindonce('openapi', app, '-o', file, '--check').status).toBe(1);
  });

  it('refuses to write to a folder', () => {
    const { status, stderr } = bindonce('openapi', moduleOf('export { app };'), '-o', folder);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining(`bindonce: ${folder} is not a file that can be written: EISDIR`),
    ]);
  });

  it.each([
    ['waits forever', 'await new Promise(() => undefined);'],
    ['ends the process', 'process.exit();'],
  ])('says so if a module %s', (_what, code) => {
    const path = moduleOf(code);
    expect(bindonce('openapi', path)).toEqual({
      status: 2,
      stdout: '',
      stderr: `bindonce: not finished: ${path} has ended the process, or waits for something forever.\n`,
    });
  });

  it('names a module that throws, with its error', () => {
    const path = moduleOf("throw new Error('not today');");
    const { status, stdout, stderr } = bindonce('openapi', path);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^bindonce: .*server\.mjs could not be loaded\. Its error is:\nError: not today\n {4}at /);
    expect(stderr).toContain(path);
  });

  it.each([
    [
      'does not exist',
      'dist/nope.js',
      `There is no file ${resolve('dist/nope.js')}. Correct the path, or build the module first.`,
    ],
    ['is a folder', 'spec', 'spec is a folder. Name a module in it.'],
  ])('says in one sentence that a module %s', (_what, path, sentence) => {
    expect(bindonce('openapi', path)).toEqual({ status: 1, stdout: '', stderr: `bindonce: ${sentence}\n` });
  });

  it.each<[string, string[], string]>([
    ['no command', [], 'bindonce: Name a command.\n\nUsage: bindonce <command>'],
    ['an unknown command', ['opnapi'], 'bindonce: There is no command "opnapi".\n\nUsage: bindonce <command>'],
    ['no module', ['openapi'], 'bindonce: Name one module.'],
    ['two modules', ['openapi', app, app], 'bindonce: Name one module.'],
    ['an unknown option', ['openapi', app, '--chek'], "bindonce: Unknown option '--chek'."],
    [
      '--check without a file',
      ['openapi', app, '--check'],
      'bindonce: --check needs the file to compare with: -o <file>.',
    ],
  ])('refuses %s', (_what, args, message) => {
    const { status, stdout, stderr } = bindonce(...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});

it('the command explains itself, and says its version', () => {
  for (const help of ['--help', '-h'])
    expect(bindonce(help)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Usage: bindonce <command>/) as string,
    });
  for (const asked of ['--version', '-v'])
    expect(bindonce(asked)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
});
