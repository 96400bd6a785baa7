import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import multer from 'multer';
import { recovering } from '../../basics/awaitable';
import { isJsonType } from '../content/media-type';
import { ExternalError, malformed } from './errors';
import { errorInName, PART_BYTES, unescaped, type FormFields } from './fields';
import type { FormOptions } from './form';

/** Arguments that busboy passes to a listener for `file`. */
type FileEvent = [
  name: string | undefined,
  content: Readable,
  info: { readonly filename?: string; readonly mimeType: string },
];

type Request = Parameters<multer.StorageEngine['_handleFile']>[0];
type Decide = (error: unknown, accepted?: boolean) => void;

/** The files of one form while it is read. Each is stored, read as a field or dropped. */
export class FormFiles {
  private readonly open = new Set<Readable>();
  /** The file that busboy has emitted last, which is the one that multer passes to `filter`. */
  private opening: Readable | undefined;
  /** Files that are neither stored nor read; their size is not limited. */
  private readonly dropped = new WeakSet<Readable>();

  constructor(
    private readonly req: IncomingMessage,
    private readonly options: FormOptions,
    private readonly fields: FormFields,
    private readonly refuse: (error: unknown) => void,
  ) {}

  /** The storage that multer uses. A storage's own error (a full disk, a deleted bucket) is not the form's fault. */
  get storage(): multer.StorageEngine {
    const { storage } = this.options;
    return {
      _handleFile: (_source, file, done) => {
        const stored = (error?: unknown, info?: Partial<Express.Multer.File>): void => {
          if (error) this.refuse(new ExternalError(error));
          done(error, info);
        };
        callOrFail(() => storage._handleFile(this.req as Request, file, stored), stored);
      },
      _removeFile: (_source, file, done) => {
        storage._removeFile(this.req as Request, file, done);
      },
    };
  }

  /** Watches the files of a form. This listener is called before multer's own, which calls the filter. */
  watch(busboy: Writable): void {
    busboy.prependListener('file', (...[name, stream, { filename, mimeType }]: FileEvent) => {
      this.opening = stream;
      this.open.add(stream);
      // Also before multer's listener. Busboy destroys a file for a form without an end, and a storage when it fails.
      stream.on('error', error => {
        this.refuse(error.message === 'Unexpected end of form' ? error : new ExternalError(error));
      });
      stream.once('close', () => {
        this.open.delete(stream);
      });
      stream.once('limit', () => {
        if (!this.dropped.has(stream)) this.refuse(new multer.MulterError('LIMIT_FILE_SIZE', name));
      });
      if (!filename)
        stream.once('data', () => {
          this.refuseNameless(unescaped(name ?? ''));
        });
      const error = errorInName(name, this.options);
      if (error) this.refuse(error);
      else this.fields.takes(Buffer.byteLength([name, filename, mimeType].join('')) + PART_BYTES);
    });
  }

  /**
   * Refuses content without a file name under a declared name: busboy takes it for a file if its type is
   * `application/octet-stream`, and multer drops it, so that a handler would run without what the client has sent.
   */
  private refuseNameless(name: string): void {
    if (!this.options.parts.takesFile(name)) return;
    this.refuse(
      malformed(
        `In the multipart form, the part ${JSON.stringify(name.slice(0, 80))} has content and no file name. With a ` +
          'file, send filename="…"; send text without the type application/octet-stream.',
      ),
    );
  }

  /** Decides whether multer stores a file. */
  filter(file: Express.Multer.File, decide: Decide): void {
    const { opening } = this;
    const { parts, fileFilter } = this.options;
    const settle = (error: unknown, accepted?: boolean): void => {
      if (error) this.refuse(new ExternalError(error));
      else if (!accepted && opening) this.dropped.add(opening);
      decide(error, accepted);
    };
    if (opening && isJsonType(file.mimetype.toLowerCase()) && parts.takesJson(file.fieldname)) {
      this.fields.addFromFile(file, opening);
      decide(null, false);
    } else if (!parts.takesFile(file.fieldname)) settle(null, false);
    else if (fileFilter) callOrFail(() => fileFilter(this.req as Request, file, settle), settle);
    else settle(null, true);
  }

  /** Destroys the files that are half read. */
  destroy(error: Error): void {
    for (const file of this.open) file.destroy(error);
  }
}

/** Calls a function of the application, which may throw, or be asynchronous and reject, where it should call back. */
function callOrFail(call: () => unknown, failed: (error: unknown) => void): void {
  void recovering(call, error => {
    failed(error || new Error(`A storage or a file filter of the application threw ${String(error)}.`));
  });
}
