import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');

/** A file of a package that exports dtos, as docs/typescript.md says to write it. */
const LIBRARY = `
import { decimal, dto, field, list, optional, queryParam, type BigNumber } from 'bindonce';
export class Line extends dto({
  price: decimal,
  discounts: list(decimal),
  refund: optional(decimal),
  tax: field(decimal, { required: false }),
  limit: queryParam(decimal),
}) {}
export const total = (line: Line) => line.price.plus(line.limit);
export type { BigNumber };
`;

/** A program that uses the package: what was `any` would be text, too. */
const USE = `
import { Line, total } from './library.js';
const { price, discounts, refund, tax, limit } = new Line();
export const texts: string[] = [price, ...discounts, refund ?? price, tax ?? price, limit, total(new Line())].map(one => one.toFixed(2));
// @ts-expect-error
export const wrong: string = price;
// @ts-expect-error
export const wrongItem: string = discounts[0]!;
// @ts-expect-error
export const wrongRefund: string = refund!;
// @ts-expect-error
export const wrongTax: string = tax!;
// @ts-expect-error
export const wrongLimit: string = limit;
// @ts-expect-error
export const wrongTotal: string = total(new Line());
`;

/** A file that exports middlewares. */
const MIDDLEWARES = `
import { bindRequest, configure, dto, idempotency, int, problemDetails } from 'bindonce';
export const errorHandlers = [problemDetails()];
export const guard = idempotency();
export const bound = bindRequest(dto({ page: int }));
export const configured = configure({});
`;

const compilers = ['typescript-5.9', 'typescript', 'typescript-7'];
const setUps = compilers.flatMap(compiler => (['commonjs', 'module'] as const).map(type => [compiler, type] as const));

describe('the declarations of a package', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(root, 'spec/support/run-'));
    mkdirSync(join(folder, 'node_modules'));
    // Not a link: the compiler would name files of the package by their path.
    const installed = join(folder, 'node_modules/bindonce');
    mkdirSync(installed);
    cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true });
    cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  /** Compiles a program in the folder. @returns what the compiler says. */
  function compile(compiler: string, files: readonly string[], options: Readonly<Record<string, unknown>>): string {
    const compilerOptions = {
      ...{ target: 'es2022', strict: true, noUnusedLocals: true, skipLibCheck: true, types: ['node'] },
      ...options,
    };
    const config = join(folder, 'tsconfig.json');
    writeFileSync(config, JSON.stringify({ compilerOptions, files }));
    const args = [join(root, 'node_modules', compiler, 'bin/tsc'), '-p', config, '--pretty', 'false'];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return status === 0 ? '' : stdout;
  }

  it.each(setUps)(
    'name the types of middlewares, and keep those of dtos with decimals in all projects that use it: %s, %s',
    (compiler, type) => {
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'library', type }));
      writeFileSync(join(folder, 'library.ts'), LIBRARY);
      writeFileSync(join(folder, 'middlewares.ts'), MIDDLEWARES);
      writeFileSync(join(folder, 'use.ts'), USE);
      const sources = ['library.ts', 'middlewares.ts'];
      expect(compile(compiler, sources, { module: 'nodenext', declaration: true, outDir: '.' })).toBe('');
      rmSync(join(folder, 'library.ts'));
      expect(compile(compiler, ['use.ts'], { module: 'nodenext', noEmit: true })).toBe('');
      expect(compile(compiler, ['use.ts'], { module: 'esnext', moduleResolution: 'bundler', noEmit: true })).toBe('');
    },
  );
});
