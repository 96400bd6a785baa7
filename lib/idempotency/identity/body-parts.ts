import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StorageEngine } from 'multer';
import objectHash from 'object-hash';
import { after, type Awaitable } from '../../basics/awaitable';
import { decodedText, isCoded, isJsonType, mediaTypeIn, mediaTypeOf } from '../../body/content/headers';
import type { MediaType } from '../../body/content/headers';
import { readForm } from '../../body/form/form';
import { Holding, IN_MEMORY, type BodyBytes } from '../../body/kept-bytes';
import { formLeftAsText, receive, type Received } from '../../body/receive';
import { Problem } from '../../problems/problem';
import type { ResolvedOptions } from '../options/resolved-options';
import { canonicalJson, canonicalValue, inNameOrder, pairsInOrder } from './canonical';

/**
 * Returns the parts of the body that take part in the cache key:
 * - of a form, its fields by name; of files the field, name and size, and the content only with `includeFileContents`
 *   and of those of JSON, which may be data: generated clients send objects as such files;
 * - of any other body, and of a form that cannot be read, media type and raw bytes; of JSON the value with `sameBody`;
 * - of a body that an earlier middleware has parsed, the result of its parsing.
 */
export const bodyParts = (
  req: IncomingMessage,
  res: ServerResponse,
  options: ResolvedOptions,
): Awaitable<readonly unknown[]> =>
  after(receive(req, res, options.maxRequestBytes), received => partsOfBody(received, req, options));

function partsOfBody(
  received: Received,
  req: IncomingMessage,
  { sameBody, includeFileContents }: ResolvedOptions,
): Awaitable<readonly unknown[]> {
  if (received.kind === 'none') return ['none'];
  const mediaType = mediaTypeOf(req);
  const { kind } = mediaType;
  if (received.kind === 'parsed') {
    // A client chooses a new boundary for each attempt, and it is part of the text.
    if (typeof received.body === 'string' && kind === 'multipart') throw formLeftAsText();
    const isForm = kind === 'multipart' || kind === 'urlencoded';
    const parts = ['parsed', mediaType.type, ...textParts(canonicalValue(received.body, isForm))];
    const { files } = received;
    return files.length > 0 ? after(hashOfLeftFiles(files, includeFileContents), hash => [...parts, hash]) : parts;
  }
  const { bytes, coding = '' } = received;
  switch (kind) {
    case 'multipart': {
      // A client chooses a new boundary for each attempt: neither media type nor bytes take part if the form tells all.
      const hashed = after(hashOfForm(bytes, req, includeFileContents), hash => hash ?? bytesParts(bytes, mediaType));
      return after(hashed, parts => [kind, coding, parts]);
    }
    case 'urlencoded':
      return after(urlEncodedParts(bytes, mediaType), parts => [kind, coding, ...parts]);
    case 'json':
    case 'other': {
      const value = kind === 'json' && sameBody === 'json' ? valueOf(received, mediaType) : undefined;
      if (value !== undefined) return ['value', ...typeParts(mediaType), ...textParts(value)];
      return after(bytesParts(bytes, mediaType), parts => ['bytes', coding, ...parts]);
    }
  }
}

/** Returns the value of JSON as text; undefined for JSON that is compared by its bytes. */
function valueOf({ bytes, coding }: Extract<Received, { kind: 'bytes' }>, mediaType: MediaType): string | undefined {
  const whole = bytes.size <= IN_MEMORY && !isCoded(coding) ? bytes.inMemory() : undefined;
  try {
    return whole && canonicalJson(decodedText(whole, mediaType));
  } catch {
    return undefined;
  }
}

const typeParts = ({ type, parameters }: MediaType): string[] => [type, ...Object.entries(parameters).sort().flat()];

/** Bytes, or characters, of what takes part as it is: to hash it first takes 2 to 5 µs. */
const SHORT = 4_096;

/** Returns a text that takes part, or its hash: as UTF-16, since UTF-8 has one character for all halves of pairs. */
const textParts = (text: string): readonly [kind: string, text: string] =>
  text.length <= SHORT ? ['text', text] : ['digest', createHash('sha256').update(text, 'utf16le').digest('hex')];

function bytesParts(bytes: BodyBytes, mediaType: MediaType): Awaitable<readonly string[]> {
  const type = typeParts(mediaType);
  return bytes.size <= SHORT
    ? after(bytes.all(), content => [...type, 'content', content.toString('latin1')])
    : after(digestOf(bytes.pieces()), digest => [...type, 'digest', digest]);
}

/** Returns the hash of bytes, in hexadecimal. */
async function digestOf(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * An urlencoded form that is longer, or has too many fields, is compared by its bytes: no user fills in such a form,
 * Express accepts no more fields either, and parsing it would block the process.
 */
const MOST_BYTES = 262_144;

async function urlEncodedParts(bytes: BodyBytes, { parameters }: MediaType): Promise<readonly string[]> {
  const charset = parameters['charset'] ?? 'utf-8';
  const pairs = bytes.size <= MOST_BYTES ? pairsInOrder((await bytes.all()).toString('latin1')) : undefined;
  return pairs ? [charset, 'pairs', ...pairs] : [charset, 'bytes', await digestOf(bytes.pieces())];
}

/**
 * Matches the character that invalid UTF-8 is decoded to, and half of a surrogate pair, which is hashed as that
 * character: a form with other bytes would have the same hash as one that contains either.
 */
const INEXACT = /[\ufffd\p{Surrogate}]/u;

/**
 * Measures a form for the key. Files of JSON are read as fields: generated clients send objects as such files.
 * @returns undefined for a form that only its bytes tell from others, cannot be read, or has more than 100,000 parts, a
 * name of more than 1,000 characters or a field of more than 10 MiB. It is not refused: a later parser may accept it.
 * @throws a 503 problem when the process cannot hold its fields.
 */
async function hashOfForm(bytes: BodyBytes, req: IncomingMessage, withContents: boolean): Promise<string | undefined> {
  const holding = new Holding();
  try {
    const form = await readForm(bytes.pieces(), req, {
      storage: measuring(withContents),
      parts: { takesFile: () => true, takesJson: () => true },
      preservePath: true,
      // One character for each byte: no two texts become one.
      defCharset: 'latin1',
      defParamCharset: 'latin1',
      limits: { parts: 100_000, fieldNameSize: 1_000, fieldSize: 10_485_760 },
      takePart: bytes => holding.take(bytes, 'memory'),
    });
    // A handler can tell a file from a field.
    const pairs = form.fields.map(([name, value, , file = '']) => [name, `${file}=${value}`] as const);
    const [fields, files] = [inNameOrder(pairs).flat(), fileParts(form.files)];
    return [...fields, ...files].some(text => INEXACT.test(text)) ? undefined : hashOf(fields, files);
  } catch (error) {
    if (!Problem.is(error) || error.status >= 500) throw error;
    return undefined;
  } finally {
    // Of a form that is refused, a file may still be read as a field.
    holding.end();
  }
}

/** A file as multer describes it, and the hash of its bytes where they take part. */
type File = Express.Multer.File & { readonly digest?: string };

/** A storage that counts the bytes of each file, hashes them if they take part, and drops them. */
const measuring = (withContents: boolean): StorageEngine => ({
  _handleFile(_req, { stream }, done) {
    const hash = createHash('sha256');
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (withContents) hash.update(chunk);
    });
    stream.on('end', () => done(null, { size, ...(withContents && { digest: hash.digest('hex') }) }));
  },
  _removeFile: (_req, _file, done) => done(null),
});

const fileParts = (files: readonly File[]): string[] => inNameOrder(files.map(partsOfFile)).flat();

const partsOfFile = ({ fieldname, originalname, size, digest }: File): readonly [string, string, string] => {
  return [fieldname, originalname, digest === undefined ? String(size) : `${size} ${digest}`];
};

const hashOf = (fields: readonly string[], files: readonly string[]): string =>
  objectHash({ fields, files }, { algorithm: 'sha256' });

/**
 * Returns the hash of what counts of the files that multer has left. Files of JSON may be data, so their content
 * counts; if it is not here, as with storages in a cloud, they are files like any other.
 * @throws Error if the content of all files is to count, and that of one is not here.
 */
async function hashOfLeftFiles(left: readonly File[], withContents: boolean): Promise<string> {
  const files = left.map(async (file): Promise<File> => {
    if (!withContents && !isJsonType(mediaTypeIn(file.mimetype).type)) return file;
    const { buffer, path = '' } = file as Partial<File>;
    try {
      return { ...file, digest: await digestOf(buffer ? [buffer] : createReadStream(path)) };
    } catch (cause) {
      if (!withContents) return file;
      const error =
        `idempotency: the file of the field ${JSON.stringify(file.fieldname)} cannot be read where multer has left ` +
        'it, and includeFileContents compares its bytes. Mount idempotency() before multer.';
      throw new Error(error, { cause });
    }
  });
  return hashOf([], fileParts(await Promise.all(files)));
}
