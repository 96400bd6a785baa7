import { randomUUID } from 'node:crypto';
import { lstat, mkdtemp, open, readdir, rm, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { warnOnce } from '../../warnings/warn-once';
import { onDisk } from './storage-problem';

/** The beginning of the names of temporary files and folders. */
export const PREFIX = 'bindonce-';

/** Milliseconds after which a folder is a leftover of a process that was killed. */
const A_DAY = 86_400_000;

/** Parent folders in which this process has looked for leftovers. */
const searched = new Set<string>();

/** The folder of one request; only the user of this process can open it. */
export interface TemporaryFolder {
  readonly path: string;
  /** Removes the folder and its files. Never rejects. */
  remove(): Promise<void>;
}

/**
 * Makes a folder with an unguessable name. The first call for a parent also removes leftovers there.
 * @throws a 507 or 503 problem.
 */
export async function makeTemporaryFolder(parent: string): Promise<TemporaryFolder> {
  if (!searched.has(parent)) void removeLeftovers(parent);
  searched.add(parent);
  const path = await made(parent, () => mkdtemp(join(parent, PREFIX)));
  return { path, remove: () => remove(path) };
}

/**
 * Makes a file whose name has been removed: no other process can open it.
 * @throws a 507 or 503 problem.
 */
export async function unnamedFile(parent: string): Promise<FileHandle> {
  const path = join(parent, `${PREFIX}${randomUUID()}`);
  const file = await made(parent, () => open(path, 'wx+', 0o600));
  await unlink(path).catch((error: unknown) => {
    warnLeft(path, error);
  });
  return file;
}

/** The error codes of a folder in which nothing can be made until somebody changes it. */
const LASTING: readonly (string | undefined)[] = ['EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR'];

function made<T>(parent: string, make: () => Promise<T>): Promise<T> {
  return onDisk(() =>
    make().catch((error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException;
      // The problem is answered here, so no error handler of the application sees the cause.
      if (LASTING.includes(code))
        warnOnce(
          'BINDONCE_TEMPORARY_FOLDER',
          `bindonce: no temporary file can be made in ${JSON.stringify(parent)} (${message}), so requests with a ` +
            'long body, or with files to store on disk, get 503. Let this process write there, or name another ' +
            'folder: TMPDIR (on Windows, TEMP), or uploads.directory.',
          parent,
        );
      throw error;
    }),
  );
}

/** Removes own folders of an earlier day, and nothing else: none with another name, user or mode, and no links. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!/^bindonce-[A-Za-z\d]{6}$/.test(name)) continue;
    const path = join(parent, name);
    const stats = await lstat(path).catch(() => undefined);
    // Windows has neither user ids nor modes.
    const isOwn = !process.getuid || (stats?.uid === process.getuid() && (stats.mode & 0o777) === 0o700);
    if (stats?.isDirectory() && isOwn && Date.now() - stats.mtimeMs > A_DAY) await remove(path);
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((error: unknown) => {
    warnLeft(path, error);
  });
}

function warnLeft(path: string, error: unknown): void {
  warnOnce(
    'BINDONCE_TEMPORARY_FILE_LEFT',
    `bindonce: ${path} could not be removed (${(error as Error).message}). Check that the process may delete it, and ` +
      'remove it.',
  );
}
