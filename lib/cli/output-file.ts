import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from './usage-error';

/**
 * Writes a file that a command makes, or checks it. A file that would not change is not touched.
 * @returns the exit code of the process: 1 if the file is checked and not up to date.
 * @throws UsageError for a path that cannot be written, such as that of a folder.
 */
export function writeOrCheck(path: string, text: string, check = false): number {
  try {
    // Git may have changed the line breaks.
    if (existsSync(path) && readFileSync(path, 'utf8').replaceAll('\r\n', '\n') === text) return 0;
    if (check) {
      console.error(`${path} is not up to date. Run the same command without --check.`);
      return 1;
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return 0;
  } catch (error) {
    throw new UsageError(`${path} is not a file that can be written: ${(error as Error).message}`);
  }
}
