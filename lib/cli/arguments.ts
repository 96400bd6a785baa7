import { parseArgs, type ParseArgsConfig } from 'node:util';
import { UsageError } from './usage-error';

type Options = NonNullable<ParseArgsConfig['options']>;

const help = { help: { type: 'boolean', short: 'h' } } as const;

type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ allowPositionals: true; options: O & typeof help }>>;

/** Parses the arguments of a command; each command has --help. @throws UsageError that ends with the usage. */
export function parsedArguments<const O extends Options>(args: string[], usage: string, options: O): Parsed<O> {
  try {
    return parseArgs({ args, allowPositionals: true, options: { ...options, ...help } });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`);
  }
}
