import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { StorageEngine } from 'multer';
import objectHash from 'object-hash';
import { isJsonType, mediaTypeIn } from '../../body/content/media-type';
import { fileOf } from '../../body/form/form';
import { readForm } from '../../body/form/read-form';
import { Holding } from '../../body/stream/holding';
import { openReceived, type ReceivedBytes } from '../../body/stream/received';
import { inNameOrder } from './name-order';

type File = Express.Multer.File & { readonly digest?: string };

/** What counts of a form: its fields, by name, and field, name and size of its files. */
export interface FormParts {
  readonly fields: readonly string[];
  readonly files: readonly string[];
}

/**
 * Measures a form for the key. Files of JSON are read as fields: generated clients send objects as such files.
 * @param withContents true if the bytes of its files take part, too.
 * @throws a 400 problem, or 413 for more than 100,000 parts, a name of more than 1,000 characters or a field of more
 * than 10 MiB; 503 when the process cannot hold its fields.
 */
export async function measureForm(
  received: ReceivedBytes,
  req: IncomingMessage,
  withContents: boolean,
): Promise<FormParts> {
  const holding = new Holding();
  try {
    const { fields, files } = await readForm(openReceived(received), req, {
      storage: measuring(withContents),
      parts: { takesFile: () => true, takesJson: () => true },
      preservePath: true,
      // One character for each byte: no two texts become one.
      defCharset: 'latin1',
      defParamCharset: 'latin1',
      limits: { parts: 100_000, fieldNameSize: 1_000, fieldSize: 10_485_760 },
      takePart: bytes => {
        holding.take(bytes, 'memory');
      },
    });
    const pairs = fields.map(field => {
      const file = fileOf(field);
      // A handler can tell a file from a field.
      return [field[0], file ? JSON.stringify([file.originalname, file.size, field[1]]) : `=${field[1]}`] as const;
    });
    return { fields: inNameOrder(pairs).flat(), files: fileParts(files) };
  } finally {
    holding.giveBack();
  }
}

const fileParts = (files: readonly File[]): string[] =>
  inNameOrder(
    files.map(({ fieldname, originalname, size, digest }) => [
      fieldname,
      originalname,
      digest === undefined ? String(size) : `${size} ${digest}`,
    ]),
  ).flat();

/** A storage that counts the bytes of each file, hashes them if they take part, and drops them. */
const measuring = (withContents: boolean): StorageEngine => ({
  _handleFile(_req, { stream }, done) {
    const hash = withContents ? createHash('sha256') : undefined;
    let size = 0;
    stream
      .on('data', (chunk: Buffer) => {
        size += chunk.length;
        hash?.update(chunk);
      })
      .on('end', () => {
        const measured: Partial<File> = { size, ...(hash && { digest: hash.digest('hex') }) };
        done(null, measured);
      });
  },
  _removeFile(_req, _file, done) {
    done(null);
  },
});

export const hashOfForm = (form: FormParts): string => objectHash(form, { algorithm: 'sha256' });

/**
 * Returns what counts of the files that multer has left. Files of JSON may be data, so their content counts; if it is
 * not here, as with storages in a cloud, they are files like any other.
 * @throws Error if the content of all files is to count, and that of one is not here.
 */
export async function leftFileParts(left: readonly File[], withContents: boolean): Promise<FormParts> {
  const files = left.map(async file => {
    if (withContents) return { ...file, digest: await digestOf(file).catch((error: unknown) => refuse(file, error)) };
    return isJsonType(mediaTypeIn(file.mimetype).type)
      ? { ...file, digest: await digestOf(file).catch(() => undefined) }
      : file;
  });
  return { fields: [], files: fileParts(await Promise.all(files)) };
}

/** @throws Error if the content of a file is not here, or cannot be read. */
async function digestOf({ buffer, path }: Partial<File>): Promise<string> {
  if (!buffer && !path) throw new Error('The file has no content here');
  const hash = createHash('sha256');
  for await (const chunk of buffer ? [buffer] : createReadStream(path ?? '')) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function refuse({ fieldname }: File, cause: unknown): never {
  throw new Error(
    `idempotency: the file of the field ${JSON.stringify(fieldname)} cannot be read where multer has left it, and ` +
      'includeFileContents compares its bytes. Mount idempotency() before multer.',
    { cause },
  );
}
