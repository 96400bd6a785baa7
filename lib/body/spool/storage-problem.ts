import { Problem } from '../../problems/problem';

/** The error codes of a full disk, an exhausted quota and a file that must not grow further. */
const FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** Makes the problem for a request whose body cannot be stored: 507 when the disk is full, else 503. */
export function storageProblem(cause: unknown): Problem {
  if (FULL.includes((cause as NodeJS.ErrnoException).code))
    return new Problem('storage-full', 'The server has no room for this request body. Retry later.', { cause });
  return new Problem('storage-unavailable', 'The server cannot store this request body at the moment. Retry later.', {
    headers: { 'Retry-After': '10' },
    cause,
  });
}

/** Runs an operation on a temporary file. @throws Problem when the system refuses it. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageProblem(error);
  }
}
