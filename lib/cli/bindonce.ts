#!/usr/bin/env node
import { generateCommand } from './generate-command';
import { openapiCommand } from './openapi-command';
import { UsageError } from './usage-error';

const commands: Readonly<Record<string, (args: string[]) => Promise<number>>> = {
  generate: generateCommand,
  openapi: openapiCommand,
};

async function main([name = '', ...args]: string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command(args);
  throw new UsageError(
    `${name === '' ? 'Name a command' : `There is no command ${JSON.stringify(name)}`}; there are: ${Object.keys(commands).join(', ')}.`,
  );
}

let isOver = false;
const exit = (code: number): never => {
  isOver = true;
  process.exit(code);
};

process.once('exit', () => {
  if (isOver) return;
  console.error('bindonce: not finished: a loaded module has ended the process, or waits for something forever.');
  process.exitCode = 2;
});

// Exits at once: the application may have opened connections that would keep the process running.
main(process.argv.slice(2)).then(exit, (error: unknown) => {
  // A stack helps with the application's own errors, and not with a wrong command line.
  console.error(error instanceof UsageError ? `bindonce: ${error.message}` : error);
  exit(2);
});
