import type { IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import multer from 'multer';
import { Problem } from '../../problems/problem';
import { isCoded, mediaTypeOf } from '../content/headers';
import type { Pair } from '../content/urlencoded';
import { FormParts, malformed, MALFORMED, type PartsOptions } from './parts';

/** A multipart form: its fields in the order they were sent, and its files as multer describes them. */
export interface Form {
  readonly fields: readonly Pair[];
  readonly files: readonly Express.Multer.File[];
}

/** A callback of multer, whose declarations differ between a storage and a filter. */
type Done<R> = (error?: unknown, result?: R) => void;

/** How a form is read: the storage of its files, and the limits of everything in it. */
export type FormOptions = PartsOptions &
  Pick<multer.Options, 'preservePath' | 'defParamCharset'> & {
    /** As in multer; one that is asynchronous may be rejected. */
    readonly fileFilter?: (request: Request, file: File, decide: Done<boolean>) => unknown;
    /** The charset of fields that name none. Multer has this option since 2.5; its declarations lack it. */
    readonly defCharset?: string;
    readonly storage: multer.StorageEngine;
    /** Called with the number of bytes of each chunk, before it is used; when it throws, the form is refused. */
    readonly take?: (bytes: number) => void;
  };

/** Returns the values by name, an array for a repeated one. It has no prototype: `__proto__` is an ordinary name. */
export function valuesByName({ fields }: Form): Record<string, string | string[]> {
  const body = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of fields) {
    const known = body[name];
    if (Array.isArray(known)) known.push(value);
    else body[name] = known === undefined ? value : [known, value];
  }
  return body;
}

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
  const { boundary = '' } = mediaTypeOf(req).parameters;
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
 *
 * Busboy gets a chunk when it has done with the one before. So all its events occur within `feed`, and what a listener,
 * a filter or a storage throws there refuses the form.
 */
class FormReading implements multer.StorageEngine {
  private readonly parts: FormParts;
  private bytes = 0;
  private busboy: Writable | undefined;

  constructor(
    private readonly boundary: string,
    private readonly req: Request,
    private readonly options: FormOptions,
    private readonly reject: (error: unknown) => void,
  ) {
    this.parts = new FormParts(options);
  }

  read(chunks: AsyncIterable<Buffer>, resolve: (form: Form) => void): void {
    // Always quoted: busboy does not accept an unquoted boundary with `=`.
    const type = `multipart/form-data; boundary="${this.boundary.replace(/["\\]/g, '\\$&')}"`;
    // Multer reads the headers of the request, and sets the files on it. As it is not readable, multer does not wait
    // for the rest of it before it reports an error.
    const known = { headers: { 'content-type': type, 'transfer-encoding': 'chunked' }, files: [], readable: false };
    const request = Object.assign(new Readable({ read: () => undefined }), known) as unknown as Request & {
      files: File[];
    };
    const { preservePath = false, defParamCharset = 'utf8', defCharset, limits } = this.options;
    // Multer's declarations lack two of these.
    const options = {
      ...{ limits, preservePath, defParamCharset, defCharset, storage: this, fileFilter: this.filter },
      streamHandler: (_request: Request, busboy: Writable) => {
        this.listen(busboy);
        this.feed(chunks, busboy).catch(this.refuse);
      },
    } as multer.Options;
    multer(options).any()(request, undefined as never, (error?: unknown) => {
      // Only of a file that came whole before an asynchronous filter has taken it: `_handleFile` refuses others.
      const isTooLarge = error instanceof multer.MulterError;
      const reason = this.unreadable() ?? (isTooLarge ? this.parts.overLimit('fileSize', error.field) : error);
      if (reason) this.refuse(reason);
      else resolve({ fields: this.parts.fields, files: request.files.filter(file => !this.parts.isField(file)) });
    });
  }

  private unreadable(): Problem | undefined {
    // Multer leaves a form alone if it cannot read the content type: one with a tab in its boundary, say.
    if (!this.busboy) return malformed('The multipart form has a boundary with characters that are not allowed.');
    // Busboy skips a part if blanks follow its boundary, or it has no name: a handler would run with nothing.
    if (this.parts.begun > 0 || this.bytes <= this.boundary.length + EMPTY_FORM) return undefined;
    return malformed(
      'The multipart form has content, and no part that can be read. Send a line break behind each boundary, ' +
        'and Content-Disposition: form-data; name="…" with each part.',
    );
  }

  /**
   * Refuses the form at once. Multer would wait for a file that is half read; when its parser is destroyed, and with it
   * such a file, it removes what is stored in the background.
   */
  private readonly refuse = (reason: unknown): void => {
    const thrown = `A storage or a file filter of the application threw ${String(reason)}.`;
    const error = reason instanceof Error ? reason : new Error(typeof reason === 'string' ? reason : thrown);
    this.reject(error);
    // Not within an event of the parser, which would go on and open the next file.
    process.nextTick(() => this.busboy?.destroy(error));
  };

  /** Refuses the form by an error of a storage or a filter at once: multer would wait for other files. */
  private reporting<R>(done: Done<R>): Done<R> {
    return (error, result) => {
      if (error) this.refuse(error);
      done(error, result);
    };
  }

  /** Listens before multer does: a limit that is exceeded has its own message here, and `throw` keeps multer out. */
  private listen(busboy: Writable): void {
    this.busboy = busboy.prependListener('error', (error: Error) => this.refuse(malformed(MALFORMED, error)));
    for (const limit of ['parts', 'files', 'fields'] as const)
      busboy.prependListener(`${limit}Limit`, () => {
        throw this.parts.overLimit(limit);
      });
    // Multer's own listener would nest the fields, and for `x[4294967294]` and `x[b]` walk over four billion holes.
    busboy.removeAllListeners('field').on('field', this.parts.takeField);
    busboy.prependListener('file', this.parts.beginFile);
    // First: a storage may destroy a file that it cannot store, and a refusal destroys the file that is read.
    busboy.prependListener('file', (_name, stream: Readable) => stream.on('error', this.refuse));
  }

  /**
   * Gives busboy a form up to its end, and reads what follows without using it (RFC 2046, section 5.1.1): busboy would
   * begin another file in that, and never end it.
   */
  private async feed(chunks: AsyncIterable<Buffer>, busboy: Writable): Promise<void> {
    const { take } = this.options;
    const end = Buffer.from(`\r\n--${this.boundary}--`, 'latin1');
    let hasEnded = false;
    let before = Buffer.from('\r\n');
    for await (const chunk of chunks) {
      this.bytes += chunk.length;
      take?.(chunk.length);
      if (hasEnded) continue;
      // The end may be in two chunks.
      const all = Buffer.concat([before, chunk]);
      const at = all.indexOf(end);
      hasEnded = at >= 0;
      const content = hasEnded ? all.subarray(before.length, at + end.length) : chunk;
      await new Promise(resolve => busboy.write(content, resolve));
      if (busboy.destroyed) return;
      before = all.subarray(1 - end.length);
    }
    if (!hasEnded) throw malformed(MALFORMED);
    busboy.end();
  }

  /** Decides whether multer stores a file. The size of one that is dropped is not limited. */
  private readonly filter = (_request: Request, file: File, decide: Done<boolean>): void => {
    const { parts, fileFilter } = this.options;
    const isField = this.parts.isField(file);
    const isTaken = isField || parts.takesFile(file.fieldname);
    if (isField || !isTaken || !fileFilter) decide(null, isTaken);
    else Promise.resolve(fileFilter(this.req, file, this.reporting(decide))).catch(this.refuse);
  };

  _handleFile(...[, file, done]: Parameters<multer.StorageEngine['_handleFile']>): void {
    file.stream.once('limit', () => this.refuse(this.parts.overLimit('fileSize', file.fieldname)));
    const stored = this.reporting(done);
    const store = async (): Promise<void> => {
      if (!this.parts.isField(file)) this.options.storage._handleFile(this.req, file, stored);
      else await this.parts.readField(file).then(() => done(null));
    };
    store().catch(stored);
  }

  _removeFile(...[, file, done]: Parameters<multer.StorageEngine['_removeFile']>): void {
    if (this.parts.isField(file)) done(null);
    else this.options.storage._removeFile(this.req, file, done);
  }
}
