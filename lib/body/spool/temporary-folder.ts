import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { warnOnce } from '../../warnings/warn-once';
import { onDisk } from './storage-problem';
import { namePrefix, removeLeftovers } from './leftovers';

/** The folder of one request; only the user of this process can open it. */
export interface TemporaryFolder {
  readonly path: string;
  /** Removes the folder and its files. Never rejects: if that fails, it is tried again when the next folder is made. */
  remove(): Promise<void>;
}

/** Parent folders in which this process has looked for leftovers. */
const searched = new Set<string>();
const unremoved = new Set<string>();

/**
 * Makes a folder with an unguessable name. The first call for a parent also removes leftovers of dead processes.
 * @throws a 507 or 503 problem.
 */
export async function makeTemporaryFolder(parent: string): Promise<TemporaryFolder> {
  void cleanUp(parent);
  const path = await onDisk(() => made(parent));
  return { path, remove: () => remove(path) };
}

/** The error codes of a folder in which nothing can be made until somebody changes it. */
const LASTING: readonly (string | undefined)[] = ['EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR'];

async function made(parent: string): Promise<string> {
  try {
    return await mkdtemp(join(parent, namePrefix()));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // The problem is answered here, so no error handler of the application sees the cause.
    if (LASTING.includes(code))
      warnOnce(
        'BINDONCE_TEMPORARY_FOLDER',
        `bindonce: no temporary file can be made in ${JSON.stringify(parent)} (${message}), so requests with a long ` +
          'body, or with files to store on disk, get 503. Let this process write there, or name another folder: ' +
          'TMPDIR (on Windows, TEMP), or uploads.directory.',
        parent,
      );
    throw error;
  }
}

async function cleanUp(parent: string): Promise<void> {
  const again = [...unremoved];
  unremoved.clear();
  await Promise.all(again.map(remove));
  if (searched.has(parent)) return;
  searched.add(parent);
  await removeLeftovers(parent);
}

async function remove(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    unremoved.add(path);
    warnOnce(
      'BINDONCE_TEMPORARY_FILE_LEFT',
      `bindonce: ${path} could not be removed (${(error as Error).message}). Check that the process may delete it. ` +
        'It is tried again when the next temporary file is made.',
    );
  }
}
