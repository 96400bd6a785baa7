import type { IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import multer from 'multer';
import { Problem } from '../problems/problem';
import { plainBoundaries } from './boundaries';
import { bodyTooLarge } from './errors';
import type { Form, FormOptions } from './form';
import { ExternalError, reasonFor } from './form-errors';
import { FormFields } from './form-fields';
import { FormFiles } from './form-files';
import { mediaTypeOf } from './media-type';

/**
 * Reads multipart/form-data (RFC 7578). Multer stores the files and counts everything; the fields are taken from its
 * parser as flat pairs, because the `req.body` that multer builds folds `a[0][b]` and loses the order.
 *
 * A form is refused at once, even if multer or a storage still waits for something; multer then removes what is stored
 * in the background, and the rest of `chunks` is not read.
 * @param req the request that the chunks come from; a storage or a filter may ask for its caller.
 * @throws a 400 or 413 problem; the error of a storage, a filter, `take` or the chunks.
 */
export function readForm(chunks: AsyncIterable<Buffer>, req: IncomingMessage, options: FormOptions): Promise<Form> {
  return new Promise((resolve, reject) => {
    const { boundary = '' } = mediaTypeOf(req).parameters;
    if (boundary === '')
      reject(new Problem('body-malformed', 'The content type of the multipart form names no boundary.'));
    else new FormReading(req, options, reject).read(chunks, boundary, resolve);
  });
}

/** The reading of one form. */
class FormReading {
  private readonly fields: FormFields;
  private readonly files: FormFiles;
  private source: Readable | undefined;
  private isRefused = false;

  constructor(
    req: IncomingMessage,
    private readonly options: FormOptions,
    private readonly reject: (reason: Error) => void,
  ) {
    this.fields = new FormFields(options, this.refuse);
    this.files = new FormFiles(req, options, this.fields, this.refuse);
  }

  read(chunks: AsyncIterable<Buffer>, boundary: string, resolve: (form: Form) => void): void {
    const source = Readable.from(plainBoundaries(bounded(chunks, this.options), boundary));
    // Always quoted: busboy does not accept an unquoted boundary with `=`.
    const type = `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"`;
    this.source = Object.assign(source, { headers: { 'content-type': type, 'transfer-encoding': 'chunked' } });
    source.on('error', this.refuse);
    const { preservePath = false, defParamCharset = 'utf8', limits } = this.options;
    const options: multer.Options & { streamHandler: (source: Readable, busboy: Writable) => void } = {
      limits,
      preservePath,
      defParamCharset,
      storage: this.files.storage,
      fileFilter: (_source, file, decide) => {
        this.files.filter(file, decide as (error: unknown, accepted?: boolean) => void);
      },
      streamHandler: (_source, busboy) => {
        this.listen(busboy);
      },
    };
    // Multer takes the stream for a request: it reads its headers, and sets the files on it.
    multer(options).any()(
      source as unknown as Parameters<ReturnType<multer.Multer['any']>>[0],
      undefined as never,
      (error?: unknown) => {
        if (error) this.refuse(error);
        else resolve({ fields: this.fields.pairs, files: (source as { files?: Express.Multer.File[] }).files ?? [] });
      },
    );
  }

  /**
   * Refuses the form. Multer would wait for files that are half read, and for the client to send the rest; once these
   * streams are destroyed, it removes what is stored.
   */
  private readonly refuse = (reason: unknown): void => {
    if (this.isRefused) return;
    this.isRefused = true;
    const error = reasonFor(reason);
    this.reject(error);
    this.source?.destroy(error);
    this.files.destroy(error);
  };

  private listen(busboy: Writable): void {
    busboy.on('error', this.refuse);
    for (const [event, code] of limitEvents)
      busboy.on(event, () => {
        this.refuse(new multer.MulterError(code));
      });
    // Multer's own listener would nest the fields, and for `x[4294967294]` and `x[b]` walk over four billion holes.
    busboy.removeAllListeners('field');
    busboy.on('field', (...field: Parameters<FormFields['add']>) => {
      this.fields.add(...field);
    });
    this.files.watch(busboy);
    this.source?.pipe(busboy);
  }
}

const limitEvents = [
  ['partsLimit', 'LIMIT_PART_COUNT'],
  ['filesLimit', 'LIMIT_FILE_COUNT'],
  ['fieldsLimit', 'LIMIT_FIELD_COUNT'],
] as const;

/**
 * Yields the chunks.
 * @throws ExternalError for a form that is too long, or that `take` or the chunks themselves refuse.
 */
async function* bounded(
  chunks: AsyncIterable<Buffer>,
  { formBytes = Infinity, take }: FormOptions,
): AsyncGenerator<Buffer, void> {
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > formBytes) throw bodyTooLarge(formBytes);
      take?.(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw new ExternalError(error);
  }
}
