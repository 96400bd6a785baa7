import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { Problem } from '../../problems/problem';
import type { MediaType } from './media-type';

/** Makes the 413 problem of a body over the limit. */
export const bodyTooLarge = (limit: number): Problem =>
  new Problem('body-too-large', `The request body is larger than ${limit} bytes.`);

const decoders: ReadonlyMap<string, (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>> = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

const nameOf = (coding = ''): string => coding.trim().toLowerCase() || 'identity';

/** Returns true if a `Content-Encoding` changes the bytes of a body. */
export const isCoded = (coding: string | undefined): boolean => nameOf(coding) !== 'identity';

/**
 * Undoes the content coding (RFC 9110, section 8.4.1).
 * @param limit bytes after decoding: a small body can decompress to a huge one.
 */
export async function uncompressed(bytes: Buffer, coding: string | undefined, limit: number): Promise<Buffer> {
  const name = nameOf(coding);
  const decode = decoders.get(name);
  if (name === 'identity') return bytes;
  if (!decode)
    throw new Problem(
      'body-unsupported',
      `The content encoding "${name.slice(0, 40)}" is not supported; send gzip, deflate, br or none.`,
    );
  try {
    return await decode(bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge(limit);
    throw new Problem('body-malformed', `The body is not valid ${name} data.`, { cause: error });
  }
}

/** Decodes UTF-8, as JSON is (RFC 8259, section 8.1) and every other text must be; drops a leading byte order mark. */
export function decodedText(bytes: Buffer, { parameters }: Pick<MediaType, 'parameters'> = { parameters: {} }): string {
  const charset = parameters['charset'] ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8')
    throw new Problem('body-unsupported', `The charset "${charset.slice(0, 40)}" is not supported; send UTF-8.`);
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new Problem('body-malformed', 'The body is not valid UTF-8; send UTF-8.', { cause: error });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
