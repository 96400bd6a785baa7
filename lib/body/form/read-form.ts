import type { IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import multer from 'multer';
import { recovering } from '../../basics/awaitable';
import { Problem } from '../../problems/problem';
import { bodyTooLarge, isCoded } from '../content/decode';
import { boundaryOf, isJsonType } from '../content/media-type';
import { FormFields, malformed, overLimit, quotedName, type Form, type FormOptions } from './form';

/**
 * Parses multipart/form-data (RFC 7578).
 * @param req the request that the chunks come from; a storage or a filter may ask for its caller.
 * @throws a 400, 413 or 415 problem; the error of a storage, a filter, `take` or the chunks.
 */
export async function readForm(
  chunks: AsyncIterable<Buffer>,
  req: IncomingMessage,
  options: FormOptions,
): Promise<Form> {
  const boundary = boundaryOf(req);
  if (isCoded(req.headers['content-encoding']))
    throw new Problem('body-unsupported', 'A multipart form is accepted only without a Content-Encoding.');
  if (boundary === '')
    throw malformed('The content type of the multipart form names no boundary. Let the HTTP client set it.');
  return new Promise((resolve, reject) => {
    new FormReading(boundary, req as Request, options, reject).read(chunks, resolve);
  });
}

/** Bytes of a form without a part, beside its boundary: the dashes around that, and a line break before and after. */
const EMPTY_FORM = 8;

type File = Express.Multer.File;
type Request = Parameters<multer.StorageEngine['_handleFile']>[0];

/**
 * The reading of one form. Multer stores the files and counts everything; the fields are taken from its parser, busboy,
 * as flat pairs, because the `req.body` that multer builds folds `a[0][b]` and loses the order.
 */
class FormReading {
  private readonly fields: FormFields;
  private stream: Readable | undefined;
  private busboy: Writable | undefined;
  private bytes = 0;
  private parts = 0;
  /** The file that busboy has emitted last, which is the one that multer asks about. */
  private opening = { isDropped: false };

  constructor(
    private readonly boundary: string,
    private readonly req: Request,
    private readonly options: FormOptions,
    private readonly reject: (error: Error) => void,
  ) {
    this.fields = new FormFields(options);
  }

  read(chunks: AsyncIterable<Buffer>, resolve: (form: Form) => void): void {
    const stream = Readable.from(this.untilEnd(chunks));
    this.stream = stream.on('error', this.refuse);
    // Always quoted: busboy does not accept an unquoted boundary with `=`.
    const type = `multipart/form-data; boundary="${this.boundary.replace(/["\\]/g, '\\$&')}"`;
    // Multer reads the headers of the request, and sets the files on it.
    const headers = { 'content-type': type, 'transfer-encoding': 'chunked' };
    const request = Object.assign(stream, { headers, files: [] }) as unknown as Request & { files: File[] };
    const { preservePath = false, defParamCharset = 'utf8', defCharset, limits } = this.options;
    // Multer's declarations lack two of these.
    const options = {
      ...{ limits, preservePath, defParamCharset, defCharset, storage: this.storage },
      fileFilter: (_request: Request, file: File, decide: multer.FileFilterCallback) => {
        this.filter(file, decide as Parameters<FormReading['filter']>[1]);
      },
      streamHandler: (_request: Request, busboy: Writable) => {
        this.listen(busboy);
        stream.pipe(busboy);
      },
    };
    multer(options).any()(request, undefined as never, (error?: unknown) => {
      // Multer leaves a form alone if it cannot read the content type: one with a tab in its boundary, say.
      if (!this.busboy)
        this.refuse(malformed('The multipart form has a boundary with characters that are not allowed.', error));
      else if (error) this.refuse(error);
      // Busboy skips a part if blanks follow its boundary, or it has no name: a handler would run with nothing.
      else if (this.parts === 0 && this.bytes > this.boundary.length + EMPTY_FORM)
        this.refuse(
          malformed(
            'The multipart form has content, and no part that can be read. Send a line break behind each boundary, ' +
              'and Content-Disposition: form-data; name="…" with each part.',
          ),
        );
      else resolve({ fields: this.fields.pairs, files: request.files.filter(file => !this.isField(file)) });
    });
  }

  /**
   * Refuses the form at once. Multer would wait for a file that is half read, and for the client to send the rest; when
   * its parser is destroyed, and with it such a file, it removes what is stored in the background.
   */
  private readonly refuse = (reason: unknown): void => {
    const error = reason instanceof Error ? reason : new Error(String(reason));
    this.reject(error);
    this.stream?.destroy(error);
    // Not within an event of the parser, which would go on and open the next file.
    process.nextTick(() => this.busboy?.destroy(error));
  };

  /** Does something that may fail, at once or later, also by throwing nothing. */
  private attempt(work: () => unknown, failed: (error: unknown) => void = this.refuse): void {
    void recovering(work, error => {
      failed(error || new Error(`A storage or a file filter of the application threw ${String(error)}.`));
    });
  }

  private listen(busboy: Writable): void {
    this.busboy = busboy;
    busboy.prependListener('error', (error: Error) => {
      this.refuse(malformed('The multipart form is malformed.', error));
    });
    for (const limit of ['parts', 'files', 'fields'] as const)
      busboy.on(`${limit}Limit`, () => {
        this.refuse(overLimit(limit, this.options));
      });
    // Multer's own listener would nest the fields, and for `x[4294967294]` and `x[b]` walk over four billion holes.
    busboy.removeAllListeners('field');
    busboy.on('field', (...field: Parameters<FormFields['add']>) => {
      this.parts++;
      this.attempt(() => {
        this.fields.add(...field);
      });
    });
    // Before multer's listener, which asks about this file.
    busboy.prependListener('file', (...file: Parameters<FormReading['watch']>) => {
      this.parts++;
      this.attempt(() => {
        this.watch(...file);
      });
    });
  }

  private watch(sent: string | undefined, stream: Readable, info: { filename?: string; mimeType: string }): void {
    const { filename = '', mimeType } = info;
    const opening: FormReading['opening'] = { isDropped: false };
    this.opening = opening;
    // A storage may destroy a file that it cannot store.
    stream.on('error', this.refuse);
    const name = this.fields.begin(sent, filename, mimeType);
    stream.once('limit', () => {
      if (!opening.isDropped) this.refuse(overLimit('fileSize', this.options, name));
    });
    // Busboy takes content without a file name for a file if its type is `application/octet-stream`, and multer drops
    // it, so that a handler would run without what the client has sent.
    if (filename === '' && this.options.parts.takesFile(name))
      stream.once('data', () => {
        this.refuse(
          malformed(
            `In the multipart form, the part ${quotedName(name)} has content and no file name. With a ` +
              'file, send filename="…"; send text without the type application/octet-stream.',
          ),
        );
      });
  }

  /** Decides whether multer stores a file. The size of one that is dropped is not limited. */
  private filter(file: File, decide: (error: unknown, accepted?: boolean) => void): void {
    const { opening } = this;
    const { parts, fileFilter } = this.options;
    const isTaken = this.isField(file) || parts.takesFile(file.fieldname);
    const settle = this.reporting<boolean>((error, accepted = false) => {
      opening.isDropped = !accepted;
      decide(error, accepted);
    });
    if (!isTaken || !fileFilter || this.isField(file)) settle(null, isTaken);
    else this.attempt(() => fileFilter(this.req, file, settle), settle);
  }

  /** The storage that multer uses: a file of JSON may become a field. */
  private get storage(): multer.StorageEngine {
    const { storage } = this.options;
    return {
      _handleFile: (_request, file, done) => {
        const stored = this.reporting(done);
        const toField = (): Promise<void> =>
          this.fields.addFile(file).then(() => {
            stored(null);
          });
        this.attempt(this.isField(file) ? toField : () => storage._handleFile(this.req, file, stored), stored);
      },
      _removeFile: (_request, file, done) => {
        if (this.isField(file)) done(null);
        else storage._removeFile(this.req, file, done);
      },
    };
  }

  /** Refuses the form by an error before multer hears of it. */
  private reporting<R>(done: (error?: unknown, result?: R) => void): (error?: unknown, result?: R) => void {
    return (error, result) => {
      if (error) this.refuse(error);
      done(error, result);
    };
  }

  private isField({ fieldname, mimetype }: File): boolean {
    return isJsonType(mimetype.toLowerCase()) && this.options.parts.takesJson(fieldname);
  }

  /**
   * Yields a form up to its end, and reads what follows without using it (RFC 2046, section 5.1.1): busboy would begin
   * another file in that, and never end it.
   */
  private async *untilEnd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    const { formBytes = Infinity, take } = this.options;
    const end = Buffer.from(`\r\n--${this.boundary}--`, 'latin1');
    let hasEnded = false;
    let before = Buffer.from('\r\n');
    for await (const chunk of chunks) {
      this.bytes += chunk.length;
      if (this.bytes > formBytes) throw bodyTooLarge(formBytes);
      take?.(chunk.length);
      if (hasEnded) continue;
      // The end may be in two chunks.
      const all = Buffer.concat([before, chunk]);
      const at = all.indexOf(end);
      hasEnded = at >= 0;
      yield hasEnded ? all.subarray(before.length, at + end.length) : chunk;
      before = all.subarray(1 - end.length);
    }
    if (!hasEnded) throw malformed('The multipart form is malformed.');
  }
}
