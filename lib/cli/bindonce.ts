#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError, type Command } from './command-line';
import { generateCommand } from './generate-command';
import { keysCommand } from './keys-command';
import { lastLoaded, LoadError } from './load-application';
import { openapiCommand } from './openapi-command';

const commands: Readonly<Record<string, Command>> = {
  generate: generateCommand,
  keys: keysCommand,
  openapi: openapiCommand,
};

const usage = `Usage: bindonce <command> [options]

  generate      writes a module with the serializer contexts of dto classes
  keys          shows and changes the runs in a store
  openapi       writes the OpenAPI document of an application

  <command> --help      the options of a command
  --version             the version of bindonce
`;

const isHelp = (argument: string): boolean => argument === '-h' || argument === '--help';

async function main([name = '', ...args]: string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return args.some(isHelp) ? print(command.usage) : command.run(args);
  if (isHelp(name)) return print(usage);
  if (name === '-v' || name === '--version') {
    const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string };
    return print(`${version}\n`);
  }
  const mistake = name === '' ? 'Name a command' : `There is no command ${JSON.stringify(name)}`;
  throw new UsageError(`${mistake}.\n\n${usage}`);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** A module that is loaded may end the process, or wait forever, so that node ends it. */
const endsEarly = (): void => {
  const { path = 'a loaded module' } = lastLoaded;
  console.error(`bindonce: not finished: ${path} has ended the process, or waits for something forever.`);
  process.exitCode = 2;
};
process.once('exit', endsEarly);

/** Exits at once: the application may have opened connections that would keep the process running. */
const exit = (code: number): never => process.off('exit', endsEarly).exit(code);

main(process.argv.slice(2)).then(exit, (error: unknown) => {
  // A stack helps with the application's own errors, and not with a wrong command line.
  if (error instanceof UsageError || error instanceof LoadError) console.error(`bindonce: ${error.message}`);
  else console.error(error);
  if (error instanceof LoadError && 'cause' in error) console.error(error.cause);
  exit(error instanceof LoadError ? 1 : 2);
});
