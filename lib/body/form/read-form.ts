import type { IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import multer from 'multer';
import { Problem } from '../../problems/problem';
import { isCoded } from '../content/decode';
import { bodyTooLarge } from '../content/errors';
import { boundaryOf } from '../content/media-type';
import { ExternalError, malformed, reasonFor } from './errors';
import { FormFields, type FieldEvent } from './fields';
import { FormFiles } from './files';
import type { Form, FormOptions } from './form';

/**
 * Parses multipart/form-data (RFC 7578).
 * @param req the request that the chunks come from.
 * @throws a 400, 413 or 415 problem; the error of a storage, a filter, `take` or the chunks.
 */
export function readForm(chunks: AsyncIterable<Buffer>, req: IncomingMessage, options: FormOptions): Promise<Form> {
  return new Promise((resolve, reject) => {
    const boundary = boundaryOf(req);
    if (isCoded(req.headers['content-encoding']))
      reject(new Problem('body-unsupported', 'A multipart form is accepted only without a Content-Encoding.'));
    else if (boundary === '')
      reject(malformed('The content type of the multipart form names no boundary. Let the HTTP client set it.'));
    else new FormReading(chunks, req, options, reject).read(boundary, resolve);
  });
}

const limitEvents = [
  ['partsLimit', 'LIMIT_PART_COUNT'],
  ['filesLimit', 'LIMIT_FILE_COUNT'],
  ['fieldsLimit', 'LIMIT_FIELD_COUNT'],
] as const;

/** Bytes of a form without a part, beside its boundary: the dashes around that, and a line break before and after. */
const EMPTY_FORM = 8;

/**
 * The reading of one form. Multer stores the files and counts everything; the fields are taken from its parser, busboy,
 * as flat pairs, because the `req.body` that multer builds folds `a[0][b]` and loses the order.
 *
 * A form is refused at once, even if multer or a storage still waits for something; multer then removes what is stored
 * in the background, and the rest of the chunks is not read.
 */
class FormReading {
  private readonly stream: Readable;
  private readonly fields: FormFields;
  private readonly files: FormFiles;
  private bytes = 0;
  private parts = 0;
  private isStarted = false;
  private isRefused = false;

  /** @param req the request that the form comes from; a storage or a filter may ask for its caller. */
  constructor(
    chunks: AsyncIterable<Buffer>,
    req: IncomingMessage,
    private readonly options: FormOptions,
    private readonly reject: (reason: Error) => void,
  ) {
    this.stream = Readable.from(untilEnd(this.taken(chunks), boundaryOf(req)));
    this.fields = new FormFields(options, this.refuse);
    this.files = new FormFiles(req, options, this.fields, this.refuse);
  }

  read(boundary: string, resolve: (form: Form) => void): void {
    this.stream.on('error', this.refuse);
    // Always quoted: busboy does not accept an unquoted boundary with `=`.
    const type = `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"`;
    const headers = { 'content-type': type, 'transfer-encoding': 'chunked' };
    // Multer reads the headers of the request, and sets the files on it.
    const request = Object.assign(this.stream, { headers, files: [] as Express.Multer.File[] });
    const { preservePath = false, defParamCharset = 'utf8', defCharset, limits } = this.options;
    const options: multer.Options & {
      defCharset: string | undefined;
      streamHandler: (request: Readable, busboy: Writable) => void;
    } = {
      limits,
      preservePath,
      defParamCharset,
      defCharset,
      storage: this.files.storage,
      fileFilter: (_request, file, decide) => {
        this.files.filter(file, decide as (error: unknown, accepted?: boolean) => void);
      },
      streamHandler: (_request, busboy) => {
        this.isStarted = true;
        this.listen(busboy);
        this.stream.pipe(busboy);
      },
    };
    multer(options).any()(
      request as unknown as Parameters<ReturnType<multer.Multer['any']>>[0],
      undefined as never,
      (error?: unknown) => {
        if (error) this.refuse(error);
        // Multer leaves a form alone if it cannot read the content type: one with a tab in its boundary, say.
        else if (!this.isStarted)
          this.refuse(malformed('The multipart form has a boundary with characters that are not allowed.'));
        // Busboy skips a part if blanks follow its boundary, or it has no name: a handler would run with nothing.
        else if (this.parts === 0 && this.bytes > boundary.length + EMPTY_FORM)
          this.refuse(
            malformed(
              'The multipart form has content, and no part that can be read. Send a line break behind each boundary, ' +
                'and Content-Disposition: form-data; name="…" with each part.',
            ),
          );
        else resolve({ fields: this.fields.pairs, files: request.files });
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
    const error = reasonFor(reason, this.options);
    this.reject(error);
    this.stream.destroy(error);
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
    busboy.on('field', (...field: FieldEvent) => {
      this.parts++;
      this.fields.add(...field);
    });
    busboy.on('file', () => {
      this.parts++;
    });
    this.files.watch(busboy);
  }

  /**
   * Yields the chunks.
   * @throws ExternalError when `take` or the chunks themselves refuse the form, which is no fault of its syntax.
   */
  private async *taken(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    const { formBytes = Infinity, take } = this.options;
    try {
      for await (const chunk of chunks) {
        this.bytes += chunk.length;
        if (this.bytes > formBytes) throw bodyTooLarge(formBytes);
        take?.(chunk.length);
        yield chunk;
      }
    } catch (error) {
      throw new ExternalError(error);
    }
  }
}

/**
 * Yields a form up to its end, and drops what follows (RFC 2046, section 5.1.1): busboy would begin another file in
 * that, and never end it.
 */
async function* untilEnd(chunks: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Buffer, void> {
  const end = Buffer.from(`\r\n--${boundary}--`, 'latin1');
  let before = Buffer.from('\r\n');
  let hasEnded = false;
  for await (const chunk of chunks) {
    if (hasEnded) continue;
    // The end may be in two chunks.
    const atBorder = Buffer.concat([before, chunk.subarray(0, end.length)]).indexOf(end);
    const at = atBorder < 0 ? chunk.indexOf(end) : atBorder - before.length;
    hasEnded = atBorder >= 0 || at >= 0;
    yield hasEnded ? chunk.subarray(0, at + end.length) : chunk;
    before = Buffer.concat([before, chunk.subarray(-end.length)]).subarray(1 - end.length);
  }
}
