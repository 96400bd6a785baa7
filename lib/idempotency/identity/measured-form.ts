import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { StorageEngine } from 'multer';
import type { Form } from '../../body/form/form';
import { readForm } from '../../body/form/read-form';

/** A file of a form that was measured, with the hash of its bytes if those take part. */
type MeasuredFile = Express.Multer.File & { readonly digest?: string };

export interface MeasuredForm extends Form {
  readonly files: readonly MeasuredFile[];
}

/**
 * Measures a form for the key: its fields, those of JSON files included, and the names and sizes of its files.
 * @param withContents true to hash the bytes of its files, too.
 * @param takePart called with the bytes of memory that each part of the result takes.
 * @throws a 400 problem, or 413 for more than 100,000 parts, a name of more than 1,000 characters or a field of more
 * than 10 MiB; what `takePart` throws.
 */
export function measureForm(
  chunks: AsyncIterable<Buffer>,
  req: IncomingMessage,
  withContents: boolean,
  takePart: (bytes: number) => void,
): Promise<MeasuredForm> {
  return readForm(chunks, req, {
    storage: measuring(withContents),
    parts: { takesFile: () => true, takesJson: () => true },
    preservePath: true,
    // One character for each byte: no two texts become one.
    defCharset: 'latin1',
    defParamCharset: 'latin1',
    limits: { parts: 100_000, fieldNameSize: 1_000, fieldSize: 10_485_760 },
    takePart,
  });
}

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
        const measured: Partial<MeasuredFile> = { size, ...(hash && { digest: hash.digest('hex') }) };
        done(null, measured);
      });
  },
  _removeFile(_req, _file, done) {
    done(null);
  },
});
