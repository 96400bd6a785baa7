import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Verdict } from './judge';

const main = join(__dirname, 'dist/faults/main.js');

/** What `npm run faults -- --json` prints. */
export interface Outcome extends Verdict {
  readonly keys: number;
  readonly hangUps: number;
  readonly seconds: number;
}

/** Runs a storm in processes of its own, as `npm run faults` does. @param flags with their values, the first in one text. */
export async function runStorm(flags: string, ...more: readonly string[]): Promise<Outcome> {
  // Ends with 1 when there are violations, which is no failure of the command.
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--json', ...flags.split(' '), ...more], {
    maxBuffer: 64 * 1_024 * 1_024,
    timeout: 400_000,
  }).catch((error: unknown) => {
    const { code, stdout: printed } = error as { code?: unknown; stdout?: string };
    if (code === 1 && printed) return { stdout: printed };
    // Its message has what the command wrote to stderr.
    throw error;
  });
  return JSON.parse(stdout) as Outcome;
}
