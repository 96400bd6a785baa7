import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { mistakesIn } from '../support/compile';

const root = join(__dirname, '../..');

const dtos = (property = 'unitPrice'): string => `
import { dto, decimal, dateTime, guid, list, optional, routeParam, string } from 'bindonce';
export class Line extends dto({ sku: string, ${property}: decimal }) {}
export class PlaceOrder extends dto({ customerId: routeParam(guid), lines: list(Line), at: optional(dateTime) }) {}
export class ByRoute extends dto({ id: routeParam(guid) }) {}
export class Grid extends dto({ rows: list(list(string)) }) {}
export const limits = { lines: 10 };
export default class {}
`;

/** Reads an order, and writes it; with generated contexts, which are stale or not. */
const app = `
import express from 'express';
import { configure, serializerContext } from 'bindonce';
import { Line, PlaceOrder } from './dtos.mjs';
import { registerContexts } from './contexts.mjs';
const binding = registerContexts({ propertyNamingPolicy: 'snake_case' }, JSON.parse(process.env.REGISTRATION ?? '{}'));
const { bindRequest, bind } = configure({ binding });
express().post('/:customerId', bindRequest(PlaceOrder, { responses: { 200: PlaceOrder } })).listen(0, '127.0.0.1');
if (process.argv[1].endsWith('app.mjs')) {
  const lines = serializerContext({ request: Line, responses: { 200: Line }, ...binding });
  const line = await lines.read('{"sku":"tea","unit_price":0.10000000000000000001,"price":1}');
  console.log(lines.write(200, line));
  setImmediate(() => process.exit());
}
`;

describe('bindonce generate', () => {
  let folder: string;
  const file = (name: string): string => join(folder, name);
  const textOf = (name: string): string => readFileSync(file(name), 'utf8');

  /** Runs node in the folder. */
  function node(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    return new Promise<{ status: number | null; stdout: string; stderr: string }>(resolve => {
      execFile(
        process.execPath,
        args,
        { cwd: folder, encoding: 'utf8', env: { ...process.env, ...env } },
        (error, stdout, stderr) => {
          resolve({ status: error?.signal ? null : Number(error?.code ?? 0), stdout, stderr });
        },
      );
    });
  }
  const bindonce = (...args: string[]) => node([join(root, 'dist/cli/bindonce.js'), 'generate', ...args]);

  // In the repository, so that modules find the package by its name.
  beforeEach(() => {
    folder = mkdtempSync(join(root, 'spec/support/run-'));
    writeFileSync(file('dtos.mjs'), dtos());
    writeFileSync(file('app.mjs'), app);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('writes a module that an application registers: no class is without code', async () => {
    expect((await bindonce('app.mjs', 'dtos.mjs', '-o', 'contexts.mjs')).status).toBe(0);
    expect(textOf('contexts.mjs')).toMatch(
      /export const registerContexts = generatedContexts\(\{\n[^]* {2}\/\/ Line\n/,
    );
    // Its own class, at the root and below, under two naming policies.
    expect(await node(['app.mjs'], { REGISTRATION: '{"whenStale":"throw"}' })).toEqual({
      status: 0,
      stdout: '{"sku":"tea","unit_price":0.10000000000000000001}\n',
      stderr: '',
    });
  });

  it('makes the same text again, and leaves a file alone that does not change', async () => {
    await bindonce('app.mjs', '-o', 'contexts.mjs');
    const { mtimeMs } = statSync(file('contexts.mjs'));
    await bindonce('app.mjs', '-o', 'contexts.mjs');
    expect(statSync(file('contexts.mjs')).mtimeMs).toBe(mtimeMs);
    expect((await bindonce('app.mjs', '-o', 'contexts.mjs', '--check')).status).toBe(0);
  });

  it('says in one line what it has written, where, and whether that has changed', async () => {
    const line = /^Wrote contexts\.mjs: (\d+) functions for 4 class names\.\n$/;
    const { stdout, stderr } = await bindonce('dtos.mjs', '-o', 'contexts.mjs');
    expect([stdout, stderr]).toEqual([expect.stringMatching(line), '']);
    const functions = textOf('contexts.mjs').match(/^ {2}'[0-9a-f]{24}': /gm);
    expect(line.exec(stdout)?.[1]).toBe(String(functions?.length));
    const again = stdout.replace('Wrote contexts.mjs', 'contexts.mjs is up to date');
    expect((await bindonce('dtos.mjs', '-o', 'contexts.mjs')).stdout).toBe(again);
    expect((await bindonce('dtos.mjs', '-o', 'contexts.mjs', '--check')).stdout).toBe(again);
    expect((await bindonce('--empty', '-o', 'none.cjs')).stdout).toBe('Wrote none.cjs: no code.\n');
  });

  it.each([
    ['a module throws', "throw new Error('not today');", 1],
    ['a module ends the process', 'process.exit(0);', 2],
    [
      'a signal ends the process',
      "setInterval(() => {}, 1_000); process.kill(process.pid, 'SIGTERM'); await new Promise(() => {});",
      null,
    ],
    ['the modules have no dtos', '', 2],
  ])('leaves nothing behind if %s, while the modules can import the file', async (_what, code, expected) => {
    writeFileSync(
      file('fails.mjs'),
      `import './made/here/contexts.js';
       import { existsSync } from 'node:fs';
       console.log(existsSync('made/here/contexts.js'));
       ${code}`,
    );
    const before = readdirSync(folder);
    const { status, stdout } = await bindonce('fails.mjs', '-o', 'made/here/contexts.js');
    expect([status, stdout]).toEqual([expected, 'true\n']);
    expect(readdirSync(folder)).toEqual(before);
  });

  it('leaves the file as it was if a module throws, and what the modules have written next to it', async () => {
    await bindonce('app.mjs', '-o', 'contexts.mjs');
    const before = textOf('contexts.mjs');
    writeFileSync(
      file('fails.mjs'),
      `import { writeFileSync } from 'node:fs'; writeFileSync('made/log', 'started'); throw new Error('not today');`,
    );
    expect((await bindonce('fails.mjs', '-o', 'contexts.mjs')).status).toBe(1);
    expect(textOf('contexts.mjs')).toBe(before);
    expect((await bindonce('fails.mjs', '-o', 'made/contexts.mjs')).status).toBe(1);
    expect(readdirSync(file('made'))).toEqual(['log']);
  });

  it('is missed after a change of a dto: by --check, by a process warning, and as an error if so configured', async () => {
    await bindonce('app.mjs', 'dtos.mjs', '-o', 'contexts.mjs');
    writeFileSync(file('dtos.mjs'), dtos('price'));
    expect(await bindonce('app.mjs', 'dtos.mjs', '-o', 'contexts.mjs', '--check')).toMatchObject({
      status: 1,
      stderr: 'contexts.mjs is not up to date. Run the same command without --check.\n',
    });
    const sentence =
      'the generated contexts have no code for Line as it is declared now, so it is compiled when it is first used. ' +
      'Run `npx bindonce generate` again, with a module that uses it, or keep class names in your bundler.';
    const { stdout, stderr } = await node(['app.mjs']);
    expect(stdout).toBe('{"sku":"tea","price":1}\n');
    expect(stderr).toContain(sentence);
    expect(stderr.split(sentence)).toHaveLength(2);
    const strict = await node(['app.mjs'], { REGISTRATION: '{"whenStale":"throw"}' });
    expect(strict.stderr).toContain(
      'TypeError: bindRequest: PlaceOrder.lines: the generated contexts have no code for',
    );
  });

  it.each([
    ['contexts.ts', 'commonjs'],
    ['contexts.ts', 'module'],
    ['contexts.mts', 'commonjs'],
    ['contexts.cts', 'module'],
    ['contexts.mjs', 'commonjs'],
    ['contexts.cjs', 'module'],
    ['contexts.js', 'commonjs'],
    ['contexts.js', 'module'],
    ['made/here/contexts.js', 'module'],
  ])('writes %s in a package of type %s, and types that strict settings accept', async (output, type) => {
    writeFileSync(file('package.json'), JSON.stringify({ type }));
    // In a package of another name.
    mkdirSync(file('node_modules'));
    symlinkSync(root, file('node_modules/bindonce'));
    expect((await bindonce('dtos.mjs', '-o', output)).status).toBe(0);
    const use = `import { configure, dto, string } from 'bindonce';
import { registerContexts } from './${basename(output).replace(/ts$/, 'js')}';
const binding = registerContexts({ propertyNamingPolicy: 'snake_case' }, { whenStale: 'throw' });
configure({ binding }).bindRequest(dto({ text: string }));
registerContexts();
`;
    const written = [output, output.replace(/([cm]?)js$/, 'd.$1ts')];
    const programs = {
      'use.ts': use,
      ...Object.fromEntries(written.map(one => [basename(one), textOf(one)])),
    };
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      isolatedDeclarations: true,
      declaration: true,
      types: ['node'],
    };
    expect(mistakesIn(programs, { compilerOptions })).toEqual([]);
    if (output.endsWith('ts')) return;
    const { stdout } = await node([
      '-e',
      `import('./${output}').then(({ registerContexts }) => console.log(registerContexts().contexts.length))`,
    ]);
    expect(stdout).toBe('1\n');
  });

  it('writes a contexts.cts whose syntax is that of its output, and which ES modules import by name', async () => {
    expect((await bindonce('dtos.mjs', '-o', 'contexts.cts')).status).toBe(0);
    writeFileSync(
      file('use.mts'),
      "import { registerContexts } from './contexts.cjs'; console.log(registerContexts().contexts?.length);",
    );
    const compilerOptions = { module: 'nodenext', strict: true, verbatimModuleSyntax: true, types: ['node'] };
    writeFileSync(file('tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.?ts'] }));
    const compiled = await node([join(root, 'node_modules/typescript-7/bin/tsc'), '-p', '.']);
    expect(compiled).toMatchObject({ status: 0, stdout: '' });
    expect((await node(['use.mjs'])).stdout).toBe('1\n');
  });

  it('finds the modules of a folder, with options for what they export', async () => {
    mkdirSync(file('orders'));
    writeFileSync(file('orders/dtos.mjs'), dtos());
    writeFileSync(file('orders/notes.txt'), 'no module');
    writeFileSync(file('options.mjs'), "export default { propertyNamingPolicy: 'PascalCase' };");
    expect((await bindonce('orders', '--options', 'options.mjs', '-o', 'contexts.mjs')).status).toBe(0);
    expect(textOf('contexts.mjs')).toContain('"UnitPrice"');
  });

  it('finds no module in installed packages, and none in a folder that is named like a module', async () => {
    mkdirSync(file('orders/chart.js/node_modules/installed'), { recursive: true });
    writeFileSync(file('orders/chart.js/dtos.mjs'), dtos());
    writeFileSync(file('orders/chart.js/node_modules/installed/index.js'), "throw new Error('loaded');");
    expect(await bindonce('orders', '-o', 'contexts.mjs')).toMatchObject({ status: 0, stderr: '' });
    const expands = 'globSync' in fs;
    expect(await bindonce('orders/**/*.{js,mjs}', '-o', 'contexts.mjs', '--check')).toMatchObject({
      status: expands ? 0 : 2,
      stderr: expands
        ? ''
        : (expect.stringContaining('does not expand patterns; Node 22 does. Name a folder instead.') as string),
    });
  });

  it('leaves out a link that leads nowhere, as Emacs locks files, and one that leads to itself', async () => {
    mkdirSync(file('orders'));
    writeFileSync(file('orders/dtos.mjs'), dtos());
    symlinkSync('me@host.123:1', file('orders/.#dtos.mjs'));
    symlinkSync('itself.mjs', file('orders/itself.mjs'));
    expect(await bindonce('orders', '-o', 'contexts.mjs')).toMatchObject({ status: 0, stderr: '' });
    if (!('globSync' in fs)) return;
    expect(await bindonce('orders/{dtos,.#dtos,itself}.mjs', '-o', 'contexts.mjs')).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('writes a module without code, so that an application can be loaded that imports it', async () => {
    expect((await bindonce('--empty', '-o', 'contexts.mjs')).status).toBe(0);
    expect(textOf('contexts.mjs')).toContain('generatedContexts({\n})');
    expect((await node(['app.mjs'])).stdout).toBe('{"sku":"tea","unit_price":0.10000000000000000001}\n');
  });

  it('calls no function of a module', async () => {
    writeFileSync(file('job.mjs'), `${dtos()}\nexport function app() { console.log('called'); }`);
    expect(await bindonce('job.mjs', '-o', 'contexts.mjs')).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^Wrote .*\n$/) as string,
      stderr: '',
    });
  });

  it.each([
    ['process.exit(0);', 'bindonce: not finished: stops.mjs has ended the process, or waits for something forever.\n'],
    ['await new Promise(() => {});', 'bindonce: stops.mjs never finishes loading: it waits for something'],
  ])('does not succeed if a module stops it: %s', async (code, message) => {
    writeFileSync(file('stops.mjs'), code);
    expect(await bindonce('dtos.mjs', 'stops.mjs', '-o', 'contexts.mjs', '--check')).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining(message) as string,
    });
  });

  it.each([
    ["{ propertyNamingPolcy: 'snake_case' }", 'there is no option "propertyNamingPolcy"; did you mean'],
    ["{ propertyNamingPolicy: 'snakeCase' }", 'propertyNamingPolicy must be'],
    ['{ limits: { depth: 0 } }', 'limits: depth must be a whole number from 1 to 500, not 0'],
  ])('loads no module if the options are %s, and writes nothing', async (options, message) => {
    writeFileSync(file('options.mjs'), `export default ${options};`);
    writeFileSync(file('loaded.mjs'), "console.log('loaded');");
    const { status, stdout, stderr } = await bindonce('loaded.mjs', '--options', 'options.mjs', '-o', 'contexts.mjs');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^bindonce: options\.mjs: bindRequest: [^\n]*\n$/);
    expect(stderr).toContain(message);
    expect(existsSync(file('contexts.mjs'))).toBe(false);
  });

  it('leaves a file alone that it has not written', async () => {
    expect(await bindonce('dtos.mjs', '-o', 'app.mjs')).toMatchObject({
      status: 2,
      stderr: 'bindonce: app.mjs was not written by this command; it is left as it is. Name another file with -o.\n',
    });
    expect(textOf('app.mjs')).toBe(app);
  });

  it('leaves declarations alone that it has not written', async () => {
    writeFileSync(file('contexts.d.ts'), 'export declare const mine: string;');
    for (const args of [['dtos.mjs'], ['--empty']])
      expect(await bindonce(...args, '-o', 'contexts.js')).toMatchObject({
        status: 2,
        stderr:
          'bindonce: contexts.d.ts was not written by this command; it is left as it is. Name another file with -o.\n',
      });
    expect([textOf('contexts.d.ts'), existsSync(file('contexts.js'))]).toEqual([
      'export declare const mine: string;',
      false,
    ]);
  });

  it('names a class that it leaves out, and why', async () => {
    writeFileSync(file('dtos.mjs'), `${dtos()}\nexport class Dated extends dto({ at: Date }) {}`);
    expect(await bindonce('dtos.mjs', '-o', 'contexts.mjs')).toMatchObject({
      status: 0,
      stderr:
        'bindonce: left out: bindRequest: Dated.at: Date has no declared properties and no static tryParse; the type for it is dateTime.\n',
    });
  });

  it('names a module that throws, with its error, and one that does not exist', async () => {
    writeFileSync(file('throws.mjs'), "throw new Error('not today');");
    const thrown = await bindonce('dtos.mjs', 'throws.mjs');
    expect(thrown.status).toBe(1);
    expect(thrown.stderr).toMatch(
      /^bindonce: throws\.mjs could not be loaded\. Its error is:\nError: not today\n {4}at .*throws\.mjs:1:7\n/,
    );
    expect(await bindonce('dtos.mjs', 'missing.mjs')).toEqual({
      status: 1,
      stdout: '',
      stderr: `bindonce: There is no file ${file('missing.mjs')}. Correct the path, or build the module first.\n`,
    });
  });

  it.each<[string, string[], string]>([
    ['no module', [], 'Name the modules to load, or --empty.'],
    ['a module with --empty', ['--empty', 'dtos.mjs'], '--empty loads no modules; leave out dtos.mjs.'],
    ['an empty folder', ['empty'], 'empty names no module.'],
    ['a module without dtos', ['options.mjs'], 'No dto class and no middleware was found in options.mjs.'],
    [
      'an output that is no module',
      ['dtos.mjs', '-o', 'contexts.json'],
      '-o takes a file that ends with .js, .mjs, .cjs',
    ],
    [
      'options that are none',
      ['dtos.mjs', '--options', 'dtos.mjs'],
      'has no default export with the options of bindRequest()',
    ],
    ['a file of declarations', ['dtos.mjs', '-o', 'contexts.d.ts'], '-o takes a file that ends with .js, .mjs, .cjs'],
    ['an unknown option', ['dtos.mjs', '--out', 'x.js'], "Unknown option '--out'"],
  ])('refuses %s', async (_what, args, sentence) => {
    mkdirSync(file('empty'));
    writeFileSync(file('options.mjs'), 'export default {};');
    const { status, stderr } = await bindonce(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(`bindonce: ${args.includes('--options') ? 'dtos.mjs ' : ''}${sentence}`);
  });

  it('explains itself', async () => {
    const { stdout } = await bindonce('--help');
    expect(stdout).toMatch(/^Usage: bindonce generate/);
    // cmd.exe passes apostrophes on.
    expect(stdout).toContain('("dist/**/*.js")');
    expect(stdout).not.toContain("'");
  });
});
