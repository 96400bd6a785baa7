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
 * Returns the hash of a file of JSON that an earlier parser has left: unlike other files, it is data of the request.
 * @throws Error if the content cannot be found, or read.
 */
export async function jsonFileDigest(file: object): Promise<string> {
  const { buffer, data, path, filepath, tempFilePath } = file as LeftFile;
  const hash = createHash('sha256');
  const onDisk = [path, filepath, tempFilePath].find(one => typeof one === 'string' && one !== '') as
    string | undefined;
  if (Buffer.isBuffer(buffer)) hash.update(buffer);
  else if (onDisk !== undefined) for await (const chunk of createReadStream(onDisk)) hash.update(chunk as Buffer);
  // With `useTempFiles`, that of express-fileupload is empty.
  else if (Buffer.isBuffer(data)) hash.update(data);
  else
    throw new Error(
      'bindonce: an earlier parser has left a file of JSON in req.files without its content, which may be data of the ' +
        'request. Mount idempotency() before the parser.',
    );
  return hash.digest('hex');
}
