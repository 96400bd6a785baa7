import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/**
 * Returns the hash of a file that an earlier parser has left.
 * @throws Error if there is no content, as with storages in a cloud, or it cannot be read.
 */
export async function leftFileDigest(file: Partial<Express.Multer.File>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of contentOf(file)) hash.update(chunk);
  return hash.digest('hex');
}

function contentOf({ buffer, path }: Partial<Express.Multer.File>): AsyncIterable<Buffer> | Iterable<Buffer> {
  if (Buffer.isBuffer(buffer)) return [buffer];
  if (typeof path === 'string' && path !== '') return createReadStream(path);
  throw new Error('The file has no content here');
}
