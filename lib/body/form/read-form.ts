import type { IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import multer from 'multer';
import { recovering } from '../../basics/awaitable';
import { Problem } from '../../problems/problem';
import { bodyTooLarge, decodedText, isCoded } from '../content/decode';
import { boundaryOf, isJsonType } from '../content/media-type';
import type { Pair } from '../content/urlencoded';
import { malformed, overLimit, quotedName, type Form, type FormOptions } from './form';

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

/** Bytes of memory that a part takes beside its texts. */
const PART_BYTES = 200;

type File = Express.Multer.File;
type Request = Parameters<multer.StorageEngine['_handleFile']>[0];
type Done<R> = (error?: unknown, result?: R) => void;

/**
 * The reading of one form. Multer stores the files and counts everything; the fields are taken from its parser, busboy,
 * as flat pairs, because the `req.body` that multer builds folds `a[0][b]` and loses the order.
 */
class FormReading {
  /** In the order in which they begin. */
  private readonly fields: Pair[] = [];
  private fieldsBytes = 0;
  private bytes = 0;
  private parts = 0;
  private stream: Readable | undefined;
  private busboy: Writable | undefined;
  /** The file that busboy has emitted last, which is the one that multer asks about. */
  private opening: Readable | undefined;

  constructor(
    private readonly boundary: string,
    private readonly req: Request,
    private readonly options: FormOptions,
    private readonly reject: (error: Error) => void,
  ) {}

  read(chunks: AsyncIterable<Buffer>, resolve: (form: Form) => void): void {
    const stream = Readable.from(this.untilEnd(chunks)).on('error', this.refuse);
    this.stream = stream;
    // Always quoted: busboy does not accept an unquoted boundary with `=`.
    const type = `multipart/form-data; boundary="${this.boundary.replace(/["\\]/g, '\\$&')}"`;
    // Multer reads the headers of the request, and sets the files on it.
    const headers = { 'content-type': type, 'transfer-encoding': 'chunked' };
    const request = Object.assign(stream, { headers, files: [] }) as unknown as Request & { files: File[] };
    const { preservePath = false, defParamCharset = 'utf8', defCharset, limits } = this.options;
    // Multer's declarations lack two of these.
    const options = {
      ...{ limits, preservePath, defParamCharset, defCharset, storage: this.storage, fileFilter: this.filter },
      streamHandler: (_request: Request, busboy: Writable) => {
        this.listen(busboy);
        stream.pipe(busboy);
      },
    } as multer.Options;
    multer(options).any()(request, undefined as never, (error?: unknown) => {
      const reason = this.unreadable() ?? error;
      if (reason) this.refuse(reason);
      else resolve({ fields: this.fields, files: request.files });
    });
  }

  private unreadable(): Problem | undefined {
    // Multer leaves a form alone if it cannot read the content type: one with a tab in its boundary, say.
    if (!this.busboy) return malformed('The multipart form has a boundary with characters that are not allowed.');
    // Busboy skips a part if blanks follow its boundary, or it has no name: a handler would run with nothing.
    if (this.parts > 0 || this.bytes <= this.boundary.length + EMPTY_FORM) return undefined;
    return malformed(
      'The multipart form has content, and no part that can be read. Send a line break behind each boundary, ' +
        'and Content-Disposition: form-data; name="…" with each part.',
    );
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
    busboy.on('field', (...field: Parameters<FormReading['takeField']>) => {
      this.attempt(() => {
        this.takeField(...field);
      });
    });
    // Before multer's listener, which asks about this file.
    busboy.prependListener('file', (...file: Parameters<FormReading['watch']>) => {
      this.attempt(() => {
        this.watch(...file);
      });
    });
  }

  /** Takes the name of a part, undefined if it has none, and memory for what else is known of it. */
  private begin(name: string | undefined, ...others: readonly string[]): string {
    const { limits, takePart } = this.options;
    this.parts++;
    if (name === undefined) throw malformed('The multipart form is malformed: Field name missing.');
    if (name.length > (limits.fieldNameSize ?? Infinity)) throw overLimit('fieldNameSize', this.options);
    takePart?.(Buffer.byteLength([name, ...others].join('')) + PART_BYTES);
    // The escapes of browsers (HTML Standard, 4.10.22.8), which multer undoes for files.
    return name.replace(/%0A|%0D|%22/gi, decodeURIComponent);
  }

  private takeField(sent?: string, value?: string, info?: { valueTruncated: boolean; mimeType: string }): void {
    const name = this.begin(sent, value ?? '');
    if (info?.valueTruncated) throw overLimit('fieldSize', this.options, name);
    if (value === undefined)
      throw malformed(`The form field ${quotedName(name)} is in a charset that is not supported; send UTF-8.`);
    this.count(Buffer.byteLength(name + value));
    this.fields.push(isJsonType(info?.mimeType.toLowerCase() ?? '') ? [name, value, 'json'] : [name, value]);
  }

  /** Counts the bytes of all fields together. */
  private count(bytes: number): void {
    const { fieldsBytes = Infinity } = this.options;
    this.fieldsBytes += bytes;
    if (this.fieldsBytes > fieldsBytes)
      throw new Problem('body-too-large', `The fields of the form are together larger than ${fieldsBytes} bytes.`);
  }

  private watch(sent: string | undefined, stream: Readable, info: { filename?: string; mimeType: string }): void {
    const { filename = '', mimeType } = info;
    // A storage may destroy a file that it cannot store.
    this.opening = stream.on('error', this.refuse);
    const name = this.begin(sent, filename, mimeType);
    stream.once('limit', () => {
      this.refuse(overLimit('fileSize', this.options, name));
    });
    if (filename !== '') {
      if (this.isField(name, mimeType)) this.readField(name, filename, stream);
    } else if (this.options.parts.takesFile(name))
      // Busboy takes content without a file name for a file if its type is `application/octet-stream`, and multer
      // drops it, so that a handler would run without what the client has sent.
      stream.once('data', () => {
        this.refuse(
          malformed(
            `In the multipart form, the part ${quotedName(name)} has content and no file name. With a ` +
              'file, send filename="…"; send text without the type application/octet-stream.',
          ),
        );
      });
  }

  private isField(name: string, type: string): boolean {
    return isJsonType(type.toLowerCase()) && this.options.parts.takesJson(name);
  }

  /** Reads a file as a field. It takes its place at once: busboy goes on to later fields before this one is read. */
  private readField(name: string, filename: string, stream: Readable): void {
    const place = this.fields.push([name, '']) - 1;
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      this.attempt(() => {
        size += chunk.length;
        if (size > (this.options.limits.fieldSize ?? Infinity)) throw overLimit('fieldSize', this.options, name);
        this.count(chunk.length);
        this.options.takePart?.(chunk.length);
        chunks.push(chunk);
      });
    });
    stream.on('end', () => {
      this.attempt(() => {
        this.fields[place] = [name, decodedText(Buffer.concat(chunks)), 'json', JSON.stringify([filename, size])];
      });
    });
  }

  /** Decides whether multer stores a file. The size of one that is dropped is not limited. */
  private readonly filter = (_request: Request, file: File, decide: Done<boolean>): void => {
    const { opening } = this;
    const { parts, fileFilter } = this.options;
    const isField = this.isField(file.fieldname, file.mimetype);
    const settle = this.reporting<boolean>((error, accepted = false) => {
      if (!accepted && !isField) opening?.removeAllListeners('limit');
      decide(error, accepted);
    });
    const isTaken = !isField && parts.takesFile(file.fieldname);
    if (!isTaken || !fileFilter) settle(null, isTaken);
    else this.attempt(() => fileFilter(this.req, file, settle), settle);
  };

  /** The storage that multer uses. */
  private get storage(): multer.StorageEngine {
    const { storage } = this.options;
    return {
      _handleFile: (_request, file, done) => {
        const stored = this.reporting(done);
        this.attempt(() => {
          storage._handleFile(this.req, file, stored);
        }, stored);
      },
      _removeFile: (_request, file, done) => {
        storage._removeFile(this.req, file, done);
      },
    };
  }

  /** Refuses the form by an error before multer hears of it. */
  private reporting<R>(done: Done<R>): Done<R> {
    return (error, result) => {
      if (error) this.refuse(error);
      done(error, result);
    };
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
