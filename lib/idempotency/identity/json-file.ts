import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** Where parsers leave the content of a file: multer, express-fileupload and formidable, in memory or on disk. */
interface LeftFile {
  readonly buffer?: unknown;
  readonly data?: unknown;
  readonly path?: unknown;
  readonly filepath?: unknown;
  readonly tempFilePath?: unknown;
}

/**
 * Returns the hash of a file of JSON that an earlier parser has left: it may be data of the request. Returns an empty
 * text if the content is not here, as with storages in a cloud: then it is a file like any other.
 */
export async function jsonFileDigest(file: object): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of contentOf(file)) hash.update(chunk);
    return ` ${hash.digest('hex')}`;
  } catch {
    return '';
  }
}

/** @throws Error if there is no content, or it cannot be read. */
function contentOf({ buffer, data, path, filepath, tempFilePath }: LeftFile): AsyncIterable<Buffer> | Iterable<Buffer> {
  if (Buffer.isBuffer(buffer)) return [buffer];
  const onDisk = [path, filepath, tempFilePath].find(one => typeof one === 'string' && one !== '');
  if (onDisk !== undefined) return createReadStream(onDisk as string);
  // With `useTempFiles`, that of express-fileupload is empty.
  if (Buffer.isBuffer(data)) return [data];
  throw new Error('The file has no content here');
}
