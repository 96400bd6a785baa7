import * as fs from 'node:fs';
import { extname } from 'node:path';
import { compileClass } from '../binding/compile-class';
import { isDto } from '../binding/declaration/declarations';
import { resolveOptions } from '../binding/options';
import type { BindingOptions } from '../binding/options';
import { CodeCollection, collecting } from '../binding/reading/compile';
import type { DtoClass } from '../binding/types/property-type';
import { parsedArguments } from './arguments';
import { contextModule, isGenerated } from './context-module';
import { defaultExport } from './default-export';
import { importModule } from './import-module';
import { writeOrCheck } from './output-file';
import { writePlaceholder } from './placeholder';
import { sourceFiles } from './source-files';
import { UsageError } from './usage-error';
import { withoutListening } from './without-listening';

const usage = `Usage: bindonce generate <module, folder or pattern>... [-o <file>] [options]

Compiles the readers and writers of JSON ahead of time. Loads the modules, and writes a module whose function
registerContexts() adds the code to the options of configure(): the code of every middleware that the modules make, and
of every dto class that they export. Patterns in quotation marks ("dist/**/*.js") need Node 22.

  -o, --output <file>    the module to write: .js, .mjs, .cjs, .ts, .mts or .cts; default: bindonce-contexts.js. If it
                         does not exist yet, it is there without code while the modules are loaded, so that they can
                         import it
  --check                write nothing; exit with 1 if the file is not up to date
  --options <module>     module whose default export is the options of bindRequest(), for the exported dto classes
  --empty                write the file without code, and load nothing
`;

/** Writes or checks the generated contexts of a project. @returns the exit code of the process. */
export async function generateCommand(args: string[]): Promise<number> {
  const { values, positionals } = parsedArguments(args, usage, {
    output: { type: 'string', short: 'o' },
    check: { type: 'boolean' },
    options: { type: 'string' },
    empty: { type: 'boolean' },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const { output = 'bindonce-contexts.js', check, empty } = values;
  if (!/^\.[cm]?[jt]s$/.test(extname(output)) || /\.d\.[cm]?ts$/.test(output))
    throw new UsageError(
      `-o takes a file that ends with .js, .mjs, .cjs, .ts, .mts or .cts, not ${JSON.stringify(output)}.`,
    );
  const withoutCode = contextModule(output, new CodeCollection());
  const foreign = withoutCode.find(({ path }) => fs.existsSync(path) && !isGenerated(path));
  if (foreign)
    throw new UsageError(
      `${foreign.path} was not written by this command; it is left as it is. Name another file with -o.`,
    );
  if (positionals.length === 0 && !empty) throw new UsageError(`Name the modules to load, or --empty.\n\n${usage}`);
  if (positionals.length > 0 && empty)
    throw new UsageError(`--empty loads no modules; leave out ${positionals.join(', ')}.`);
  if (empty) return writeContexts(output, new CodeCollection(), check);
  const files = sourceFiles(positionals);
  const options =
    values.options === undefined
      ? {}
      : await defaultExport<BindingOptions>(values.options, 'bindRequest()', resolveOptions);
  const keep = check || fs.existsSync(output) ? undefined : writePlaceholder(output, withoutCode[0].text);
  const collection = await collectionOf(files, options);
  if (collection.texts.size === 0)
    throw new UsageError(`No dto class and no middleware was found in ${positionals.join(', ')}.`);
  const code = writeContexts(output, collection, check);
  keep?.();
  return code;
}

/** Writes or checks the module, and says so in one line. @returns the exit code of the process. */
function writeContexts(output: string, collection: CodeCollection, check?: boolean): number {
  const outcomes = contextModule(output, collection).map(({ path, text }) => writeOrCheck(path, text, check));
  if (outcomes.includes('outdated')) return 1;
  const what = outcomes.includes('written') ? `Wrote ${output}` : `${output} is up to date`;
  process.stdout.write(`${what}: ${contentOf(collection)}.\n`);
  return 0;
}

/** Counts names, as classes without one share theirs. */
function contentOf({ texts }: CodeCollection): string {
  const { size } = new Set([...texts.values()].map(({ owner }) => owner));
  return size === 0 ? 'no code' : `${count(texts.size, 'function')} for ${count(size, 'class name')}`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Loads modules, and collects the code that they compile. */
async function collectionOf(files: readonly string[], options: BindingOptions): Promise<CodeCollection> {
  const collection = new CodeCollection();
  collecting.collection = collection;
  for (const file of files) {
    const { result: exports = {} } = await withoutListening(file, () => importModule(file));
    for (const Dto of dtosIn(exports)) {
      try {
        compileClass(Dto, options);
      } catch (error) {
        console.error(`bindonce: left out: ${(error as Error).message}`);
      }
    }
  }
  return collection;
}

/** Returns the exported dto classes. What a CommonJS module exports is the default export. */
function dtosIn(exports: Readonly<Record<string, unknown>>): Set<DtoClass<unknown>> {
  const { default: byDefault } = exports;
  const all = [...Object.values(exports), ...Object.values(isObject(byDefault) ? byDefault : {})];
  return new Set(all.filter(isDto));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
