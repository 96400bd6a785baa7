import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

  /** Writes a module that has two applications, `app` and `other`. */
  function moduleOf(code: string): string {
    const path = join(folder, 'server.mjs');
    const start = `import { once } from 'node:events';
      import { createServer } from 'node:http';
      import { writeSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      import { bindRequest, dto, int } from 'bindonce';
      import express from 'express';
      const handler = bindRequest(dto({ a: int }));
      const [app, other] = [express(), express()];
      app.post('/orders', handler);
      other.get('/metrics', handler);
    `;
    writeFileSync(path, start + code);
    return path;
  }
  const pathsIn = (document: string): string[] => Object.keys((JSON.parse(document) as { paths: object }).paths);

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

  it.each([
    [
      'waits for something else, and then mounts routes',
      'app.listen(0); await setTimeout(50); app.post("/late", handler);',
    ],
    [
      'waits until its server listens, and then mounts routes',
      `const server = app.listen(0);
       await once(server, 'listening');
       console.error(server.address().port);
       app.post("/late", handler);`,
    ],
    ['waits in its callback', 'await new Promise(go => app.listen(0, go)); app.post("/late", handler);'],
    [
      'exports an application behind another server',
      'other.listen(0); await setTimeout(50); app.post("/late", handler); export { app };',
    ],
    [
      'returns the application from a function that waits until it is served',
      'export default async () => { await once(app.listen(0), "listening"); return app.post("/late", handler); };',
    ],
    [
      'serves an application that the server got later, at two ports',
      `app.post("/late", handler);
       const server = createServer().listen(0);
       server.on("request", app);
       app.listen(1);
       createServer(() => { throw new Error('called'); }).listen(2);`,
    ],
    [
      'serves in a function that is not awaited, and then mounts routes',
      `const main = async () => {
         await once(app.listen(0), 'listening');
         const { default: late } = await import('data:text/javascript,export default "/late"');
         app.post(late, handler);
       };
       void main();`,
    ],
    [
      'waits for something else in a function that is not awaited, and then serves',
      `const main = async () => {
         await setTimeout(50);
         app.post("/late", handler).listen(0);
       };
       void main();`,
    ],
    ['mounts routes in the callback of listen()', 'app.listen(0, () => app.post("/late", handler));'],
    [
      'has something that keeps the process running',
      'setInterval(() => {}, 1_000); app.listen(0, () => app.post("/late", handler));',
    ],
    ['serves, and waits for a signal', 'app.post("/late", handler).listen(0); await once(process, "SIGTERM");'],
  ])('describes all of a module that %s', (_what, code) => {
    const path = moduleOf(code);
    const describe = () => {
      const begun = performance.now();
      return { ...bindonce('openapi', path), ms: performance.now() - begun };
    };
    let described = describe();
    // Code that is not awaited has one second, for which the machine may stand still.
    for (let tries = 1; tries < 5 && described.ms > 1_000 && !described.stdout.includes('/late'); tries++)
      described = describe();
    expect([described.status, pathsIn(described.stdout)]).toEqual([0, ['/orders', '/late']]);
  });

  it('calls back no one who does not wait', () => {
    const path = moduleOf("app.listen(0, () => console.error('listening')); export { app };");
    expect(bindonce('openapi', path)).toMatchObject({ status: 0, stderr: '' });
  });

  it('does not describe a module that exports nothing and fails after it is loaded', () => {
    const { status, stdout, stderr } = bindonce(
      'openapi',
      moduleOf("app.listen(0, async () => { throw new Error('no database'); });"),
    );
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Error: no database');
  });

  it.each([
    [
      'serves two applications',
      'app.listen(0); other.listen(0);',
      'serves several Express applications and exports none. Export it',
    ],
    ['waits forever', 'await new Promise(() => {});', 'never finishes loading: it waits for something'],
  ])('asks for another module if one %s', (_what, code, message) => {
    const path = moduleOf(code);
    const { status, stdout, stderr } = bindonce('openapi', path);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`bindonce: ${path} ${message}`);
  });

  it('does not wait for a module longer than a minute', () => {
    const { stdout } = node([
      '-e',
      `const { withoutListening } = require(${JSON.stringify(join(root, 'dist/cli/without-listening'))});
       setInterval(() => {}, 1_000);
       withoutListening('app.mjs', () => new Promise(() => {}), 100).catch(error => {
         console.log(error.message);
         process.exit();
       });`,
    ]);
    expect(stdout).toContain('app.mjs has not been loaded within 0.1 seconds: it waits for something');
  });

  it('keeps standard output for the document, also where a module writes to the descriptor', () => {
    const { stdout, stderr } = bindonce('openapi', moduleOf("writeSync(1, 'a line of a logger'); export { app };"));
    expect([pathsIn(stdout), stderr]).toEqual([['/orders'], 'a line of a logger']);
  });

  it.each<[string, string, object]>([
    ['with a byte order mark', '\uFEFF{"name":"shop","version":"1.2.3"}', { title: 'shop', version: '1.2.3' }],
    ['whose name is an object', '{"name":{"a":1},"version":["2"]}', { title: 'API', version: '0.0.0' }],
    ['whose version is a number', '{"version":2}', { title: 'API', version: '2' }],
  ])('takes title and version from a package.json %s', (_what, text, info) => {
    const path = moduleOf('export { app };');
    writeFileSync(join(folder, 'package.json'), text);
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/bindonce'));
    const { stdout } = node([join(root, 'dist/cli/bindonce.js'), 'openapi', path], folder);
    expect(JSON.parse(stdout)).toMatchObject({ info });
  });

  it('takes title and version from the package that the module is in, from any folder', () => {
    writeFileSync(join(folder, 'package.json'), '{"name":"shop","version":"1.2.3"}');
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist/package.json'), '{"type":"module"}');
    const start = "import express from 'express';\nexport const app = express();\n";
    writeFileSync(join(folder, 'dist/app.js'), start);
    const { stdout } = bindonce('openapi', join(folder, 'dist/app.js'));
    expect(JSON.parse(stdout)).toMatchObject({ info: { title: 'shop', version: '1.2.3' } });
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

  it('replaces the file in one step, through a link, and keeps its permissions', () => {
    writeFileSync(file, 'old', { mode: 0o640 });
    chmodSync(file, 0o640);
    const link = join(directory.path, 'link.json');
    symlinkSync(file, link);
    const { ino } = statSync(file);
    expect(bindonce('openapi', app, '-o', link).status).toBe(0);
    expect(statSync(file).ino).not.toBe(ino);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(pathsIn(readFileSync(file, 'utf8'))).toEqual(['/orders']);
    expect(readdirSync(directory.path).sort()).toEqual(['link.json', 'openapi.json']);
  });

  it('leaves a device a device', () => {
    expect(bindonce('openapi', app, '-o', '/dev/null').status).toBe(0);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('refuses to write to a folder', () => {
    const { status, stderr } = bindonce('openapi', moduleOf('export { app };'), '-o', folder);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining(`bindonce: ${folder} is not a file that can be written: EISDIR`),
    ]);
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
