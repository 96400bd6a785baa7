import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { endWithUs } from '../support/servers/children';

/** Milliseconds that one command may take, an installation with an empty cache on a busy machine included. */
const LIMIT = 300_000;

export interface Surroundings {
  readonly cwd: string;
  /** Folders that are searched for programs before all others. */
  readonly bin?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly isWell: boolean;
  /** Everything that it printed, and how it ended if that was not well. */
  readonly output: string;
}

/** Runs a program to its end. */
export function run(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, bin = [], env = {} }: Surroundings,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const PATH = [...bin, process.env['PATH']].join(delimiter);
    const child = endWithUs(
      spawn(program, args, {
        cwd,
        env: { ...outsideOfNpm(), ...env, PATH },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: LIMIT,
      }),
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        output += text.toString();
      });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      output = stripVTControlCharacters(output);
      resolve({
        isWell: code === 0,
        output: code === 0 ? output : `${output}\n${program} ended with ${signal ?? code}`,
      });
    });
  });
}

/** Runs a program that must not fail. */
export async function runWell(command: readonly [string, ...string[]], surroundings: Surroundings): Promise<string> {
  const { isWell, output } = await run(command, surroundings);
  if (isWell) return output;
  throw new Error(`${command.join(' ')}:\n${output}`);
}

/** Our environment without what `npm run` and Jest add for their own folder. */
function outsideOfNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(npm_(package|lifecycle|config_local_prefix|command)|INIT_CWD|NODE_ENV|NODE_OPTIONS|JEST_)/.test(name),
    ),
  );
}
