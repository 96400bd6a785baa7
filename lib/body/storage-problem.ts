import { Problem } from '../problems/problem';

/** What systems say of a disk, a quota or a file that may not grow any more. */
const FULL: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** How a request is refused when the disk does not take its body. */
export function storageProblem(cause: unknown): Problem {
  if (FULL.includes((cause as NodeJS.ErrnoException).code))
    return new Problem('storage-full', 'The server has no room for this request body.', { cause });
  return new Problem(
    'storage-unavailable',
    'The server cannot store this request body at the moment; try again later.',
    { headers: { 'Retry-After': '10' }, cause },
  );
}

/** Does something with a temporary file. @throws Problem when the system refuses it. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageProblem(error);
  }
}
