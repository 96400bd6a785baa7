import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

describe('bindonce generate', () => {
  let folder: string;
  const file = (name: string): string => join(folder, name);

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

  it('writes a module whose contexts an application registers, and checks it', async () => {
    const wrote = { status: 0, stdout: 'Wrote contexts.mjs: 3 classes.\n', stderr: '' };
    expect(await bindonce('dtos.mjs', '-o', 'contexts.mjs')).toEqual(wrote);
    writeFileSync(
      file('app.mjs'),
      `import { configure } from 'bindonce';
       import express from 'express';
       import { Line, PlaceOrder } from './dtos.mjs';
       import { registerContexts } from './contexts.mjs';
       const binding = registerContexts({ propertyNamingPolicy: 'snake_case' });
       const { bindRequest } = configure({ binding });
       const app = express().post('/:customerId', bindRequest(PlaceOrder), (req, res) => {
         res.json(req.dto.lines[0] instanceof Line);
       });
       const server = app.listen(0, '127.0.0.1', async () => {
         const body = JSON.stringify({ lines: [{ sku: 'tea', unit_price: 1 }] });
         const url = 'http://127.0.0.1:' + server.address().port + '/A0eebc999c0b4ef8bb6d6bb9bd380a11';
         const sent = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
         console.log(binding.contexts.map(({ types }) => types.request?.name).join(), await sent.json());
         server.close();
       });`,
    );
    expect(await node(['app.mjs'])).toEqual({ status: 0, stdout: 'Line,PlaceOrder,default true\n', stderr: '' });
    const again = await bindonce('dtos.mjs', '-o', 'contexts.mjs', '--check');
    expect(again).toEqual({ status: 0, stdout: 'contexts.mjs is up to date: 3 classes.\n', stderr: '' });
    writeFileSync(file('dtos.mjs'), `${dtos}export class Other extends dto({ id: string }) {}`);
    const changed = { status: 1, stderr: 'contexts.mjs is not up to date. Run the same command without --check.\n' };
    expect(await bindonce('dtos.mjs', '-o', 'contexts.mjs', '--check')).toMatchObject(changed);
  });

  it.each([
    ['contexts.ts', 'commonjs'],
    ['contexts.ts', 'module'],
    ['contexts.mts', 'commonjs'],
  ])('writes %s in a package of type %s, of compiled classes', async (output, type) => {
    writeFileSync(file('package.json'), JSON.stringify({ type }));
    // In a package of another name.
    mkdirSync(file('node_modules'));
    symlinkSync(root, file('node_modules/bindonce'));
    mkdirSync(file('dist'));
    const typed = `import { dto, string } from 'bindonce';\nexport class Line extends dto({ sku: string }) {}\n`;
    const isModule = output.endsWith('.mts') || type === 'module';
    const required = "const b = require('bindonce'); exports.Line = class Line extends b.dto({ sku: b.string }) {};";
    const compiled = output.endsWith('.mts') ? 'dtos.mjs' : 'dtos.js';
    writeFileSync(file(`dist/${compiled}`), isModule ? typed : required);
    expect((await bindonce(`dist/${compiled}`, '--root', 'dist', '-o', output)).status).toBe(0);
    const use = `import { configure, dto, string } from 'bindonce';
import { registerContexts } from './${basename(output).replace(/ts$/, 'js')}';
const binding = registerContexts({ propertyNamingPolicy: 'snake_case' });
configure({ binding }).bindRequest(dto({ text: string }));
`;
    const written = readFileSync(file(output), 'utf8');
    const programs = { 'use.ts': use, [output]: written, [compiled.replace(/js$/, 'ts')]: typed };
    const checked = { strict: true, noUnusedLocals: true } as const;
    const compilerOptions = { target: 'es2022', module: 'nodenext', types: ['node'], ...checked } as const;
    expect(mistakesIn(programs, { compilerOptions })).toEqual([]);
  });

  it.each<[string, string[], number, string | RegExp]>([
    ['no module', [], 2, 'Name the modules to load.'],
    ['a module without dtos', ['options.mjs'], 2, 'options.mjs exports no dto class.'],
    ['an output that is no module', ['dtos.mjs', '-o', 'contexts.json'], 2, '-o takes a file that ends with .ts, .mts'],
    ['a file of declarations', ['dtos.mjs', '-o', 'contexts.d.ts'], 2, '-o takes a file that ends with .ts, .mts'],
    ['a module of CommonJS', ['dtos.mjs', '-o', 'contexts.cjs'], 2, '-o takes a file that ends with .ts, .mts or .mjs'],
    ['an unknown option', ['dtos.mjs', '--out', 'x.js'], 2, "Unknown option '--out'"],
    ['a file of the application', ['dtos.mjs', '-o', 'options.mjs'], 2, 'options.mjs was not written by this command'],
    ['a missing module', ['dtos.mjs', 'missing.mjs'], 1, 'There is no file '],
    ['one that throws', ['throws.mjs'], 1, 'throws.mjs could not be loaded. Its error is:\nError: not today\n    at '],
    [
      'a class that has no JSON',
      ['dated.mjs'],
      2,
      'left out: Dated: serializerContext: Dated.at: Date has no declared',
    ],
  ])('refuses %s', async (_what, args, status, sentence) => {
    writeFileSync(file('options.mjs'), 'export default {};');
    writeFileSync(file('throws.mjs'), "throw new Error('not today');");
    writeFileSync(file('dated.mjs'), "import { dto } from 'bindonce'; export class Dated extends dto({ at: Date }) {}");
    expect(await bindonce(...args)).toMatchObject({
      status,
      stdout: '',
      stderr: expect.stringContaining(`bindonce: ${sentence}`) as string,
    });
    expect(existsSync(file('bindonce-contexts.mjs'))).toBe(false);
  });
});
