#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, lastLoaded, LoadError } from './command';
import * as generate from './generate-command';
import * as keys from './keys-command';
import * as openapi from './openapi-command';

const commands = { generate, keys, openapi };

const usage = `Usage: bindonce <command> [options]

  generate      writes a module with the serializer contexts of dto classes
  keys          shows and changes the runs in a store
  openapi       writes the OpenAPI document of an application

  <command> --help      the options of a command
  --version             the version of bindonce
`;

const isHelp = (argument: string): boolean => argument === '-h' || argument === '--help';

async function main([name = '', ...args]: string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name as keyof typeof commands] : undefined;
  if (command && !args.some(isHelp)) return command.run(args);
  if (command || isHelp(name)) process.stdout.write(command?.usage ?? usage);
  else if (name === '-v' || name === '--version') {
    const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string };
    console.log(version);
  } else {
    const mistake = name === '' ? 'Name a command' : `There is no command ${JSON.stringify(name)}`;
    throw new CommandError(`${mistake}.\n\n${usage}`);
  }
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
  const isOurs = error instanceof CommandError;
  console.error(isOurs ? `bindonce: ${error.message}` : error);
  if (isOurs && 'cause' in error) console.error(error.cause);
  exit(error instanceof LoadError ? 1 : 2);
});
