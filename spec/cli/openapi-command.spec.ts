import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TemporaryDirectory } from '../support/temporary-directory';

const root = join(__dirname, '../..');
const programs = join(root, 'spec/support/programs');
const app = join(programs, 'described-app.mjs');

/** Runs the command as `npx bindonce` does. */
function bindonce(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'dist/cli/bindonce.js'), ...args], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, stdout, stderr };
}

describe('bindonce openapi', () => {
  let directory: TemporaryDirectory;
  let file: string;
  beforeEach(() => {
    directory = new TemporaryDirectory();
    file = join(directory.path, 'openapi.json');
  });
  afterEach(() => {
    directory.remove();
  });

  it('writes the document to standard output, and what the application prints to the other one', () => {
    const { status, stdout, stderr } = bindonce('openapi', app, '--title', 'Shop', '--version', '2.0.0');
    expect([status, stderr]).toEqual([0, 'loaded\n']);
    expect(JSON.parse(stdout)).toMatchObject({
      openapi: '3.1.1',
      info: { title: 'Shop', version: '2.0.0' },
      paths: { '/orders': { post: { operationId: 'postOrders' } } },
    });
  });

  it('describes an application that is only served, and does not wait for its server to listen', () => {
    const { status, stdout } = bindonce('openapi', join(programs, 'served-app.mjs'));
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ info: { title: 'bindonce' }, paths: { '/payments': {} } });
  });

  it('takes its options from a module', () => {
    const options = join(directory.path, 'options.mjs');
    writeFileSync(options, "export default { info: { title: 'Shop', version: '3' }, servers: [{ url: '/v3' }] };");
    const { stdout } = bindonce('openapi', app, '--options', options);
    expect(JSON.parse(stdout)).toMatchObject({ info: { title: 'Shop', version: '3' }, servers: [{ url: '/v3' }] });
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
    ['a module without an application', ['openapi', 'package.json'], 'package.json'],
    ['a module that does not exist', ['openapi', 'missing.mjs'], 'bindonce: missing.mjs could not be loaded: Error'],
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
