import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PREFIX } from '../../body/spool/temporary-folder';

const READ_ONLY = 'Its disk can only be read; name a folder on another one.';

/** What to do about a folder that cannot be made, by the error code of the system. */
const unmade: Readonly<Record<string, string>> = {
  EACCES: 'Let the user of this process write to the folder above it, or name another folder.',
  EPERM: 'Let the user of this process write to the folder above it, or name another folder.',
  EROFS: READ_ONLY,
  EEXIST: 'There is a file of this name; name a folder, or remove the file.',
  ENOTDIR: 'A part of the path is a file; name a folder, or remove the file.',
};

/** What to do about a folder in which nothing can be made. Other errors pass, such as that of a full disk. */
const unwritable: Readonly<Record<string, string>> = {
  EACCES: 'Let the user of this process write to it, or name another folder.',
  EPERM: 'Let the user of this process write to it, or name another folder.',
  EROFS: READ_ONLY,
};

/** Folders in which something was made: an application has one for many endpoints. */
const writable = new Set<string>();

/**
 * Returns the folder for uploads, and makes it if it does not exist.
 * @param given the option; undefined for the system's temporary folder.
 * @throws TypeError that says why it cannot be made or written to, and what to do.
 */
export function uploadDirectory(given: string | undefined): string {
  const directory = given ?? tmpdir();
  const refusal = (what: string, remedy: string, cause: NodeJS.ErrnoException): TypeError => {
    const name = given === undefined ? "the system's temporary folder (TMPDIR, on Windows TEMP)" : 'uploads.directory';
    return new TypeError(
      `bindRequest: ${name} ${JSON.stringify(directory)} cannot be ${what}. ${remedy} (${cause.message})`,
      { cause },
    );
  };
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    const cause = reasonOf(error as NodeJS.ErrnoException, directory);
    throw refusal('made', unmade[cause.code ?? ''] ?? 'Name a folder that this process can make.', cause);
  }
  if (writable.has(directory)) return directory;
  let made: string;
  try {
    // Only making something tells: the rights that `access()` reports are not all that count, least of all on Windows.
    made = mkdtempSync(join(directory, PREFIX));
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    const remedy = unwritable[cause.code ?? ''];
    if (remedy !== undefined) throw refusal('written to', remedy, cause);
    return directory;
  }
  writable.add(directory);
  try {
    rmSync(made, { recursive: true, maxRetries: 3 });
  } catch {
    // It is empty, and the next process that stores a file here tries again.
  }
  return directory;
}

/** Finds the system's reason: Node says ENOENT of a disk that can only be read, unless the folder is made by itself. */
function reasonOf(error: NodeJS.ErrnoException, directory: string): NodeJS.ErrnoException {
  const parent = dirname(directory);
  if (error.code !== 'ENOENT') return error;
  if (!existsSync(parent) && parent !== directory) return reasonOf(error, parent);
  try {
    mkdirSync(directory);
  } catch (reason) {
    return reason as NodeJS.ErrnoException;
  }
  return error;
}
