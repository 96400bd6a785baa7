import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/**
 * Returns the hash of a file of JSON that an earlier parser has left: it may be data of the request. Returns an empty
 * text if the content is not here, as with storages in a cloud: then it is a file like any other.
 */
export async function jsonFileDigest(file: Partial<Express.Multer.File>): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of contentOf(file)) hash.update(chunk);
    return ` ${hash.digest('hex')}`;
  } catch {
    return '';
  }
}

/** @throws Error if there is no content, or it cannot be read. */
function contentOf({ buffer, path }: Partial<Express.Multer.File>): AsyncIterable<Buffer> | Iterable<Buffer> {
  if (Buffer.isBuffer(buffer)) return [buffer];
  if (typeof path === 'string' && path !== '') return createReadStream(path);
  throw new Error('The file has no content here');
}
