import { randomUUID } from 'node:crypto';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../problems/problem';

/** The beginning of the names of temporary files and folders. */
export const PREFIX = 'bindonce-';

/**
 * Makes a folder with an unguessable name, which only the user of this process can open.
 * @throws a 507 or 503 problem.
 */
export const makeTemporaryFolder = (parent: string): Promise<string> => onDisk(mkdtemp(join(parent, PREFIX)));

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

/** Removes a file, or a folder with its files. Never rejects, since nothing can be done about an error. */
export const removeTemporary = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true }).catch(() => undefined);

/** The error codes of a full disk, an exhausted quota and a file that must not grow further. */
const FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** Makes the problem for a request whose body cannot be stored: 507 when the disk is full, else 503. */
export function storageProblem(cause: unknown): Problem {
  if (FULL.includes((cause as NodeJS.ErrnoException).code))
    return new Problem('storage-full', 'The server has no room for this request body. Retry later.', { cause });
  const detail = 'The server cannot store this request body at the moment. Retry later.';
  return new Problem('storage-unavailable', detail, { headers: { 'Retry-After': '10' }, cause });
}

/** Waits for an operation on a temporary file. @throws a 507 or 503 problem when the system refuses it. */
export const onDisk = <T>(working: Promise<T>): Promise<T> =>
  working.catch((error: unknown) => {
    throw storageProblem(error);
  });
