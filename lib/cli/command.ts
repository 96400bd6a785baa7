import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** A command that cannot be carried out as it is written. */
export class CommandError extends Error {}

/** A module does not exist, or threw while it was loaded: then the cause is its error. */
export class LoadError extends CommandError {}

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ allowPositionals: true; options: O }>>;

/** Parses the arguments of a command. @throws CommandError that ends with the usage. */
export function parsedArguments<const O extends Options>(args: string[], usage: string, options: O): Parsed<O> {
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${usage}`);
  }
}

type Exports = Readonly<Record<string, unknown>>;

/** The module that was loaded last, for the message of a process that ends early. */
export const lastLoaded: { path?: string } = {};

/**
 * Imports a module by its path.
 * @returns its exports, those in its default export, and those in the default export there: what a CommonJS module
 * exports is one default export; if it was compiled from an ES module, that has another one.
 * @throws LoadError
 */
export async function importModule(path: string): Promise<readonly Exports[]> {
  // The error of Node would be a stack of its loader.
  if (!existsSync(path))
    throw new LoadError(`There is no file ${resolve(path)}. Correct the path, or build the module first.`);
  if (statSync(path).isDirectory()) throw new LoadError(`${path} is a folder. Name a module in it.`);
  lastLoaded.path = path;
  try {
    const exports = (await import(pathToFileURL(resolve(path)).href)) as Exports;
    const inDefault = Object(exports['default']) as Exports;
    return [exports, inDefault, Object(inDefault['default']) as Exports];
  } catch (cause) {
    // Node itself loads TypeScript from version 22.18 on.
    const isUnknown = cause instanceof Error && 'code' in cause && cause.code === 'ERR_UNKNOWN_FILE_EXTENSION';
    const advice = ' (name what the compiler has made of it, or set NODE_OPTIONS="--import tsx")';
    throw new LoadError(`${path} could not be loaded${isUnknown ? advice : ''}. Its error is:`, { cause });
  }
}

/**
 * Writes a file that a command makes, or checks it. A file that would not change is not touched.
 * @returns what became of the file: `outdated` if it was checked and would change.
 * @throws CommandError for a path that cannot be written, such as that of a folder.
 */
export function writeOrCheck(path: string, text: string, check = false): 'written' | 'unchanged' | 'outdated' {
  try {
    // Git may have changed the line breaks.
    if (existsSync(path) && readFileSync(path, 'utf8').replaceAll('\r\n', '\n') === text) return 'unchanged';
    if (check) {
      console.error(`${path} is not up to date. Run the same command without --check.`);
      return 'outdated';
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return 'written';
  } catch (error) {
    throw new CommandError(`${path} is not a file that can be written: ${(error as Error).message}`);
  }
}
