#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateCommand } from './generate-command';
import { lastLoaded, LoadError } from './import-module';
import { openapiCommand } from './openapi-command';
import { UsageError } from './usage-error';

const commands: Readonly<Record<string, (args: string[]) => Promise<number>>> = {
  generate: generateCommand,
  openapi: openapiCommand,
};

const usage = `Usage: bindonce <command> [options]

  generate      writes a module with the serializer contexts of dto classes
  openapi       writes the OpenAPI document of an application

  <command> --help      the options of a command
  --version             the version of bindonce
`;

async function main([name = '', ...args]: string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command(args);
  if (name === '-h' || name === '--help') return print(usage);
  if (name === '-v' || name === '--version') return print(`${ownVersion()}\n`);
  throw new UsageError(
    `${name === '' ? 'Name a command' : `There is no command ${JSON.stringify(name)}`}.\n\n${usage}`,
  );
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function ownVersion(): string {
  return (JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string }).version;
}

let isOver = false;
const exit = (code: number): never => {
  isOver = true;
  process.exit(code);
};

process.once('exit', () => {
  if (isOver) return;
  const { path = 'a loaded module' } = lastLoaded;
  console.error(`bindonce: not finished: ${path} has ended the process, or waits for something forever.`);
  process.exitCode = 2;
});

// Exits at once: the application may have opened connections that would keep the process running.
main(process.argv.slice(2)).then(exit, (error: unknown) => {
  // A stack helps with the application's own errors, and not with a wrong command line.
  if (error instanceof UsageError || error instanceof LoadError) console.error(`bindonce: ${error.message}`);
  else console.error(error);
  if (error instanceof LoadError && 'cause' in error) console.error(error.cause);
  exit(error instanceof LoadError ? 1 : 2);
});
