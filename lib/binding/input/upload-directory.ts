import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';

/** What to do about a folder that cannot be made, by the error code of the system. */
const remedies: Readonly<Record<string, string>> = {
  EACCES: 'Let the user of this process write to the folder above it, or name another folder.',
  EPERM: 'Let the user of this process write to the folder above it, or name another folder.',
  EROFS: 'Its disk can only be read; name a folder on another one.',
  EEXIST: 'There is a file of this name; name a folder, or remove the file.',
  ENOTDIR: 'A part of the path is a file; name a folder, or remove the file.',
};

/**
 * Returns the folder for uploads, and makes it if it does not exist.
 * @param given the option; undefined for the system's temporary folder.
 * @throws TypeError that says why it cannot be made, and what to do.
 */
export function uploadDirectory(given: string | undefined): string {
  const directory = given ?? tmpdir();
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    const cause = reasonOf(error as NodeJS.ErrnoException, directory);
    const { code = '', message } = cause;
    const what = given === undefined ? "the system's temporary folder (TMPDIR)" : 'uploads.directory';
    const remedy = remedies[code] ?? 'Name a folder that this process can make.';
    throw new TypeError(`bindRequest: ${what} ${JSON.stringify(directory)} cannot be made. ${remedy} (${message})`, {
      cause,
    });
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
