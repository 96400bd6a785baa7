import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
    replaceFile(path, text);
    return 'written';
  } catch (error) {
    throw new UsageError(`${path} is not a file that can be written: ${(error as Error).message}`);
  }
}

/** The error codes of a file that an editor or a virus scanner holds open (Windows), or that is mounted (Linux). */
const IRREPLACEABLE: readonly (string | undefined)[] = ['EPERM', 'EBUSY'];

/**
 * Replaces a file in one step, so that no one reads half of it, and a full disk leaves the old one. One that cannot be
 * replaced is written in place.
 */
function replaceFile(path: string, text: string): void {
  const old = existsSync(path) ? statSync(path) : undefined;
  // A device, such as /dev/null, must not become a file.
  if (old && !old.isFile()) return writeFileSync(path, text);
  const target = old ? realpathSync(path) : path;
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}`);
  try {
    writeFileSync(temporary, text, old && { mode: old.mode });
    renameSync(temporary, target);
  } catch (error) {
    if (!IRREPLACEABLE.includes((error as NodeJS.ErrnoException).code)) throw error;
    writeFileSync(target, text);
  } finally {
    rmSync(temporary, { force: true });
  }
}
