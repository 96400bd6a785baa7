import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { mistakesIn } from '../support/compile';

const root = join(__dirname, '../..');

const dtos = `
import { dto, decimal, guid, list, routeParam, string } from 'bindonce';
export class Line extends dto({ sku: string, unitPrice: decimal }) {}
export class PlaceOrder extends dto({ customerId: routeParam(guid), lines: list(Line) }) {}
export const limits = { lines: 10 };
export default class extends dto({ id: string }) {}
`;

const typed = `import { dto, string } from 'bindonce';
export class Line extends dto({ sku: string }) {}
`;

describe('bindonce generate', () => {
  let folder: string;
  const file = (name: string): string => join(folder, name);
  const textOf = (name: string): string => readFileSync(file(name), 'utf8');

  /** Runs node in the folder. */
  function node(args: readonly string[]) {
    return new Promise<{ status: number | null; stdout: string; stderr: string }>(resolve => {
      execFile(process.execPath, args, { cwd: folder, encoding: 'utf8' }, (error, stdout, stderr) => {
        resolve({ status: Number(error?.code ?? 0), stdout, stderr });
      });
    });
  }
  const bindonce = (...args: string[]) => node([join(root, 'dist/cli/bindonce.js'), 'generate', ...args]);

  // In the repository, so that modules find the package by its name.
  beforeEach(() => {
    folder = mkdtempSync(join(root, 'spec/support/run-'));
    writeFileSync(file('dtos.mjs'), dtos);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('writes a module whose contexts an application registers, and says so in one line', async () => {
    const { status, stdout, stderr } = await bindonce('dtos.mjs', '-o', 'contexts.mjs');
    expect([status, stdout, stderr]).toEqual([0, 'Wrote contexts.mjs: 3 classes.\n', '']);
    writeFileSync(
      file('app.mjs'),
      `import { configure } from 'bindonce';
       import { Line, PlaceOrder } from './dtos.mjs';
       import { registerContexts } from './contexts.mjs';
       const binding = registerContexts({ propertyNamingPolicy: 'snake_case' });
       const { bind } = configure({ binding });
       const lines = [{ sku: 'tea', unit_price: 1 }];
       const order = await bind(PlaceOrder, { params: { customerId: 'A0eebc999c0b4ef8bb6d6bb9bd380a11' }, body: { lines } });
       console.log(binding.contexts.map(({ types }) => types.request?.name).join(), order.lines[0] instanceof Line);`,
    );
    expect(await node(['app.mjs'])).toEqual({ status: 0, stdout: 'Line,PlaceOrder,default true\n', stderr: '' });
  });

  it('leaves a file alone that does not change, and --check misses a change', async () => {
    await bindonce('dtos.mjs', '-o', 'contexts.mjs');
    const { mtimeMs } = statSync(file('contexts.mjs'));
    expect((await bindonce('dtos.mjs', '-o', 'contexts.mjs')).stdout).toBe('contexts.mjs is up to date: 3 classes.\n');
    expect(statSync(file('contexts.mjs')).mtimeMs).toBe(mtimeMs);
    expect((await bindonce('dtos.mjs', '-o', 'contexts.mjs', '--check')).status).toBe(0);
    writeFileSync(file('dtos.mjs'), `${dtos}export class Other extends dto({ id: string }) {}`);
    expect(await bindonce('dtos.mjs', '-o', 'contexts.mjs', '--check')).toMatchObject({
      status: 1,
      stderr: 'contexts.mjs is not up to date. Run the same command without --check.\n',
    });
  });

  it.each(['contexts.mjs', 'contexts.cjs', 'src/contexts.mjs'])('writes %s', async output => {
    writeFileSync(
      file('dtos.cjs'),
      "const { dto, string } = require('bindonce'); module.exports = { Line: class Line extends dto({ sku: string }) {} };",
    );
    expect((await bindonce('dtos.cjs', '-o', output)).status).toBe(0);
    const { stdout } = await node([
      '-e',
      `import('./${output}').then(({ registerContexts }) => console.log(registerContexts().contexts[0].types.request.name))`,
    ]);
    expect(stdout).toBe('Line\n');
  });

  it.each([
    ['contexts.ts', 'commonjs', 'dtos.js'],
    ['contexts.ts', 'module', 'dtos.js'],
    ['contexts.mts', 'commonjs', 'dtos.mjs'],
  ])('writes %s in a package of type %s, of compiled classes, for strict settings', async (output, type, compiled) => {
    writeFileSync(file('package.json'), JSON.stringify({ type }));
    // In a package of another name.
    mkdirSync(file('node_modules'));
    symlinkSync(root, file('node_modules/bindonce'));
    mkdirSync(file('dist'));
    const isModule = compiled.endsWith('.mjs') || type === 'module';
    writeFileSync(
      file(`dist/${compiled}`),
      isModule
        ? typed
        : "const b = require('bindonce'); exports.Line = class Line extends b.dto({ sku: b.string }) {};",
    );
    expect((await bindonce(`dist/${compiled}`, '--root', 'dist', '-o', output)).status).toBe(0);
    const use = `import { configure, dto, string } from 'bindonce';
import { registerContexts } from './${basename(output).replace(/ts$/, 'js')}';
const binding = registerContexts({ propertyNamingPolicy: 'snake_case' });
configure({ binding }).bindRequest(dto({ text: string }));
registerContexts();
`;
    const programs = { 'use.ts': use, [output]: textOf(output), [compiled.replace(/js$/, 'ts')]: typed };
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      noUnusedLocals: true,
      types: ['node'],
    };
    expect(mistakesIn(programs, { compilerOptions })).toEqual([]);
  });

  it('does not replace a file that it has not written', async () => {
    writeFileSync(file('contexts.mjs'), 'export const mine = 1;');
    expect(await bindonce('dtos.mjs', '-o', 'contexts.mjs')).toMatchObject({
      status: 2,
      stderr:
        'bindonce: contexts.mjs was not written by this command; it is left as it is. Name another file with -o.\n',
    });
    expect(textOf('contexts.mjs')).toBe('export const mine = 1;');
  });

  it('names a class that it leaves out, and why', async () => {
    writeFileSync(file('dtos.mjs'), `${dtos}\nexport class Dated extends dto({ at: Date }) {}`);
    expect(await bindonce('dtos.mjs', '-o', 'contexts.mjs')).toMatchObject({
      status: 0,
      stderr:
        'bindonce: left out: Dated: serializerContext: Dated.at: Date has no declared properties and no static tryParse; the type for it is dateTime.\n',
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
    expect(existsSync(file('bindonce-contexts.mjs'))).toBe(false);
  });

  it.each<[string, string[], string]>([
    ['no module', [], 'Name the modules to load.'],
    ['a module without dtos', ['options.mjs'], 'options.mjs exports no dto class.'],
    ['an output that is no module', ['dtos.mjs', '-o', 'contexts.json'], '-o takes a file that ends with .ts, .mts'],
    ['a file of declarations', ['dtos.mjs', '-o', 'contexts.d.ts'], '-o takes a file that ends with .ts, .mts'],
    ['an unknown option', ['dtos.mjs', '--out', 'x.js'], "Unknown option '--out'"],
  ])('refuses %s', async (_what, args, sentence) => {
    writeFileSync(file('options.mjs'), 'export default {};');
    const { status, stderr } = await bindonce(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(`bindonce: ${sentence}`);
  });

  it('explains itself', async () => {
    expect((await bindonce('--help')).stdout).toMatch(/^Usage: bindonce generate/);
  });
});
