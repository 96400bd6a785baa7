import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import multer from 'multer';
import { Problem } from '../../problems/problem';
import type { Form, FormOptions } from './form';
import { reasonFor } from './errors';
import { FormFields } from './fields';
import { FormFiles } from './files';
import type { FieldEvent } from './busboy-events';

/** The source of the parts of a form. */
export interface FormSource {
  /** The stream that multer takes for the request; it is destroyed when the form is refused. */
  readonly stream: Readable;
  /** Makes busboy announce the parts and, after the last, emit `close`. */
  readonly start: (busboy: Writable) => void;
}

/**
 * The reading of one form. Multer stores the files and counts everything; the fields are taken from its parser, busboy,
 * as flat pairs, because the `req.body` that multer builds folds `a[0][b]` and loses the order.
 *
 * A form is refused at once, even if multer or a storage still waits for something; multer then removes what is stored
 * in the background, and the rest of the source is not read.
 */
export class FormReading {
  private readonly fields: FormFields;
  private readonly files: FormFiles;
  private isStarted = false;
  private isRefused = false;

  /** @param req the request that the form comes from; a storage or a filter may ask for its caller. */
  constructor(
    req: IncomingMessage,
    private readonly options: FormOptions,
    private readonly source: FormSource,
    private readonly reject: (reason: Error) => void,
  ) {
    this.fields = new FormFields(options, this.refuse);
    this.files = new FormFiles(req, options, this.fields, this.refuse);
  }

  read(boundary: string, resolve: (form: Form) => void): void {
    const { stream, start } = this.source;
    stream.on('error', this.refuse);
    // Always quoted: busboy does not accept an unquoted boundary with `=`.
    const type = `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"`;
    const request = Object.assign(stream, { headers: { 'content-type': type, 'transfer-encoding': 'chunked' } });
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
        start(busboy);
      },
    };
    // Multer reads the headers of the request, and sets the files on it.
    multer(options).any()(
      request as unknown as Parameters<ReturnType<multer.Multer['any']>>[0],
      undefined as never,
      (error?: unknown) => {
        if (error) this.refuse(error);
        // Multer leaves a form alone if it cannot read the content type: one with a tab in its boundary, say.
        else if (!this.isStarted)
          this.refuse(
            new Problem('body-malformed', 'The multipart form has a boundary with characters that are not allowed.'),
          );
        else resolve({ fields: this.fields.pairs, files: (request as { files?: Express.Multer.File[] }).files ?? [] });
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
    const error = reasonFor(reason, this.options.limits);
    this.reject(error);
    this.source.stream.destroy(error);
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
      this.fields.add(...field);
    });
    this.files.watch(busboy);
    this.options.recorder?.watch(busboy);
  }
}

const limitEvents = [
  ['partsLimit', 'LIMIT_PART_COUNT'],
  ['filesLimit', 'LIMIT_FILE_COUNT'],
  ['fieldsLimit', 'LIMIT_FIELD_COUNT'],
] as const;
