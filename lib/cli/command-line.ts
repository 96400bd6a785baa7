import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The command line cannot be carried out as it is written. */
export class UsageError extends Error {}

/** A command: what its --help says, and what it does. @returns the exit code of the process. */
export interface Command {
  readonly usage: string;
  run(args: string[]): Promise<number>;
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ allowPositionals: true; options: O }>>;

/** Parses the arguments of a command. @throws UsageError that ends with the usage. */
export function parsedArguments<const O extends Options>(args: string[], usage: string, options: O): Parsed<O> {
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`);
  }
}

/**
 * Writes a file that a command makes, or checks it. A file that would not change is not touched.
 * @returns what became of the file: `outdated` if it was checked and would change.
 * @throws UsageError for a path that cannot be written, such as that of a folder.
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
    throw new UsageError(`${path} is not a file that can be written: ${(error as Error).message}`);
  }
}
