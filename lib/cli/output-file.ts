import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from './usage-error';

/** What became of a file: written, left alone because it would not change, or checked and found out of date. */
type FileOutcome = 'written' | 'unchanged' | 'outdated';

/**
 * Writes a file that a command makes, or checks it. A file that would not change is not touched.
 * @throws UsageError for a path that cannot be written, such as that of a folder.
 */
export function writeOrCheck(path: string, text: string, check = false): FileOutcome {
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
