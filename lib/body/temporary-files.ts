import { randomUUID } from 'node:crypto';
import { lstat, mkdtemp, open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../problems/problem';
import { warnOnce } from '../warnings/warn-once';

/** The beginning of the names of temporary files and folders. */
export const PREFIX = 'bindonce-';

/** Milliseconds after which a folder is a leftover of a process that was killed. */
const A_DAY = 86_400_000;

/** Parent folders in which this process has looked for leftovers. */
const searched = new Set<string>();

/**
 * Makes a folder with an unguessable name, which only the user of this process can open. The first call for a parent
 * also removes leftovers there.
 * @throws a 507 or 503 problem.
 */
export async function makeTemporaryFolder(parent: string): Promise<string> {
  if (!searched.has(parent)) void removeLeftovers(parent);
  searched.add(parent);
  return onDisk(mkdtemp(join(parent, PREFIX)));
}

/**
 * Makes a file whose name has been removed: no other process can open it.
 * @throws a 507 or 503 problem.
 */
export async function unnamedFile(parent: string): Promise<FileHandle> {
  const path = join(parent, `${PREFIX}${randomUUID()}`);
  const file = await onDisk(open(path, 'wx+', 0o600));
  await removeTemporary(path);
  return file;
}

/** Removes a file, or a folder with its files. Never rejects: what is left is removed after a day. */
export const removeTemporary = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true }).catch(() => undefined);

/** The error codes of a full disk, an exhausted quota and a file that must not grow further. */
const FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/**
 * Makes the problem for a request whose body cannot be stored: 507 when the disk is full, else 503. Then a warning says
 * why, since the problem is answered, and no error handler of the application sees its cause.
 */
export function storageProblem(cause: unknown): Problem {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (FULL.includes(code))
    return new Problem('storage-full', 'The server has no room for this request body. Retry later.', { cause });
  warnOnce(
    'BINDONCE_TEMPORARY_FOLDER',
    `bindonce: a temporary file cannot be used (${message}), so requests with a long body, or with files to store on ` +
      'disk, get 503. Let this process write there, or name another folder: TMPDIR (on Windows, TEMP), or ' +
      'uploads.directory.',
  );
  const headers = { 'Retry-After': '10' };
  const detail = 'The server cannot store this request body at the moment. Retry later.';
  return new Problem('storage-unavailable', detail, { headers, cause });
}

/** Waits for an operation on a temporary file. @throws a 507 or 503 problem when the system refuses it. */
export const onDisk = <T>(working: Promise<T>): Promise<T> =>
  working.catch((error: unknown) => {
    throw storageProblem(error);
  });

/** Removes own folders of an earlier day, and nothing else: none with another name or user, and no links. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const path = join(parent, name);
    const stats = /^bindonce-[A-Za-z\d]{6}$/.test(name) ? await lstat(path).catch(() => undefined) : undefined;
    // Windows has no user ids.
    const isOwn = stats?.uid === (process.getuid?.() ?? stats?.uid);
    if (isOwn && stats?.isDirectory() && Date.now() - stats.mtimeMs > A_DAY) await removeTemporary(path);
  }
}
