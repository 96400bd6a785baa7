import type { IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import multer from 'multer';
import { Problem } from '../problems/problem';
import { plainBoundaries } from './boundaries';
import { bodyTooLarge } from './errors';
import { OwnError, reasonFor } from './form-errors';
import { textOf } from './decode';
import { isJson, mediaTypeOf } from './media-type';
import type { Pair } from './urlencoded';
import { allFiles, type PartsTaken } from './parts';

/** A multipart form: its fields in the order they were sent, and its files as multer describes them. */
export interface Form {
  readonly fields: readonly Pair[];
  readonly files: readonly Express.Multer.File[];
}

/** What multer is told: where files go, and how much of everything is accepted. */
export type FormSettings = Pick<multer.Options, 'fileFilter' | 'preservePath' | 'defParamCharset'> & {
  readonly storage: multer.StorageEngine;
  readonly limits: NonNullable<Exclude<multer.Options['limits'], (...given: never[]) => unknown>>;
  /** Bytes of all fields together: multer bounds each, and their number. */
  readonly fieldsBytes?: number;
  /** Bytes of the whole form. */
  readonly formBytes?: number;
  /** Default: all files. */
  readonly parts?: PartsTaken;
  /** Called with the number of bytes of each chunk, before it is used; when it throws, the form is refused. */
  readonly take?: (bytes: number) => void;
};

/**
 * Reads multipart/form-data (RFC 7578). Multer stores the files and counts everything; the fields are taken from its parser as
 * flat pairs, because `req.body` as multer builds it folds `a[0][b]` and loses the order.
 *
 * It is refused at once, whatever multer or a storage still wait for: what is stored is removed behind its back. The rest of
 * `chunks` is not read then.
 * @param req the request that the chunks come from; a storage or a filter may ask who sends it.
 * @throws a 400 or 413 problem; what a storage, a filter, `take` or the chunks throw.
 */
export function readForm(chunks: AsyncIterable<Buffer>, req: IncomingMessage, settings: FormSettings): Promise<Form> {
  return new Promise((resolve, reject) => {
    const reading = new FormReading(req, settings, reject);
    reading.read(chunks, resolve);
  });
}

/** One form on its way. */
class FormReading {
  private readonly fields: Pair[] = [];
  private readonly open = new Set<Readable>();
  private opening: Readable | undefined;
  /** Files that are not stored may be as long as they like. */
  private readonly unwanted = new WeakSet<Readable>();
  private fieldsBytes = 0;
  private bytes = 0;
  private source: Readable | undefined;
  private isRefused = false;

  constructor(
    private readonly req: IncomingMessage,
    private readonly settings: FormSettings,
    private readonly reject: (reason: Error) => void,
  ) {}

  read(chunks: AsyncIterable<Buffer>, resolve: (form: Form) => void): void {
    const { boundary = '' } = mediaTypeOf(this.req).parameters;
    if (boundary === '') {
      this.reject(new Problem('body-malformed', 'The content type of the multipart form names no boundary.'));
      return;
    }
    const source = Readable.from(plainBoundaries(this.counted(chunks), boundary));
    // Always quoted: busboy takes no boundary with `=` that is not.
    const type = `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"`;
    this.source = Object.assign(source, { headers: { 'content-type': type, 'transfer-encoding': 'chunked' } });
    source.on('error', error => {
      this.refuse(error);
    });
    const { fileFilter, preservePath = false, defParamCharset = 'utf8', limits } = this.settings;
    const options: multer.Options & { streamHandler: (source: Readable, busboy: Writable) => void } = {
      limits,
      preservePath,
      defParamCharset,
      storage: this.storage(),
      fileFilter: (_source, file, done) => {
        this.filter(file, fileFilter, done as Decide);
      },
      streamHandler: (_source, busboy) => {
        this.listen(busboy);
      },
    };
    // Multer takes the stream for a request: it looks at its headers, and leaves the files on it.
    multer(options).any()(
      source as unknown as Parameters<ReturnType<multer.Multer['any']>>[0],
      undefined as never,
      (error?: unknown) => {
        if (error) this.refuse(error);
        else resolve({ fields: this.fields, files: (source as { files?: Express.Multer.File[] }).files ?? [] });
      },
    );
  }

  /**
   * Refuses the form. Multer would wait for files that are half read, and for the client to send the rest. With these streams
   * broken off, it removes what is stored.
   */
  private refuse(reason: unknown): void {
    if (this.isRefused) return;
    this.isRefused = true;
    const error = reasonFor(reason);
    this.reject(error);
    this.source?.destroy(error);
    for (const file of this.open) file.destroy(error);
  }

  private async *counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    const { formBytes = Infinity, take } = this.settings;
    try {
      for await (const chunk of chunks) {
        this.bytes += chunk.length;
        if (this.bytes > formBytes) throw bodyTooLarge(formBytes);
        take?.(chunk.length);
        yield chunk;
      }
    } catch (error) {
      throw new OwnError(error);
    }
  }

  private listen(busboy: Writable): void {
    const refuse = (error: unknown): void => {
      this.refuse(error);
    };
    const limit = (code: multer.ErrorCode): void => {
      this.refuse(new multer.MulterError(code));
    };
    busboy.on('error', refuse);
    busboy.on('partsLimit', () => {
      limit('LIMIT_PART_COUNT');
    });
    busboy.on('filesLimit', () => {
      limit('LIMIT_FILE_COUNT');
    });
    busboy.on('fieldsLimit', () => {
      limit('LIMIT_FIELD_COUNT');
    });
    // Multer's own listener would nest the fields, and of `x[4294967294]` and `x[b]` walk four billion holes.
    busboy.removeAllListeners('field');
    busboy.on('field', (name: string | undefined, value: string | undefined, cut: Truncation) => {
      this.addField(name, value, cut);
    });
    // Before multer's own listener, which asks the filter.
    busboy.prependListener('file', (name: string | undefined, stream: Readable) => {
      this.opening = stream;
      this.open.add(stream);
      // Before multer, too: only a storage that fails breaks off a file, or we do.
      stream.on('error', error => {
        this.refuse(new OwnError(error));
      });
      stream.once('close', () => {
        this.open.delete(stream);
      });
      stream.once('limit', () => {
        if (!this.unwanted.has(stream)) this.refuse(new multer.MulterError('LIMIT_FILE_SIZE', name));
      });
      if (name === undefined) limit('MISSING_FIELD_NAME');
      else if (name.length > this.longestName) limit('LIMIT_FIELD_KEY');
    });
    this.source?.pipe(busboy);
  }

  private get longestName(): number {
    return this.settings.limits.fieldNameSize ?? Infinity;
  }

  private addField(name: string | undefined, value: string | undefined, cut: Truncation): void {
    const mistake = mistakeIn(name, value, cut, this.longestName);
    const field: Pair = [name ?? '', value ?? ''];
    if (mistake) this.refuse(mistake);
    else if (this.hasRoomFor(Buffer.byteLength(field.join('')))) this.fields.push(field);
  }

  /** Its place among the fields is that of its beginning: parsers go on while the end of a part is still on its way. */
  private readAsField(name: string, stream: Readable): void {
    const { fieldSize = Infinity } = this.settings.limits;
    const place = this.fields.push([name, '']) - 1;
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > fieldSize) this.refuse(new multer.MulterError('LIMIT_FIELD_VALUE', name));
      else if (this.hasRoomFor(chunk.length)) chunks.push(chunk);
    });
    stream.on('end', () => {
      try {
        this.fields[place] = [name, textOf(Buffer.concat(chunks))];
      } catch (error) {
        this.refuse(error);
      }
    });
  }

  /** False when all fields together are too long: the form is refused. */
  private hasRoomFor(bytes: number): boolean {
    const { fieldsBytes = Infinity } = this.settings;
    this.fieldsBytes += bytes;
    if (this.fieldsBytes > fieldsBytes) this.refuse(bodyTooLarge(fieldsBytes));
    return this.fieldsBytes <= fieldsBytes;
  }

  /** What a storage says (a full disk, a bucket that is gone) is not the form's fault. */
  private storage(): multer.StorageEngine {
    const { storage } = this.settings;
    return {
      _handleFile: (_source, file, done) => {
        storage._handleFile(this.req as Request, file, (error?: unknown, info?) => {
          if (error) this.refuse(new OwnError(error));
          done(error, info);
        });
      },
      _removeFile: (_source, file, done) => {
        storage._removeFile(this.req as Request, file, done);
      },
    };
  }

  private filter(file: Express.Multer.File, filter: FileFilter | undefined, decide: Decide): void {
    const { opening } = this;
    const settle = (error: unknown, accepted?: boolean): void => {
      if (error) this.refuse(new OwnError(error));
      else if (!accepted && opening) this.unwanted.add(opening);
      decide(error, accepted);
    };
    const { takesFile, takesJson } = this.settings.parts ?? allFiles;
    if (opening && isJson(file.mimetype.toLowerCase()) && takesJson(file.fieldname)) {
      this.readAsField(file.fieldname, opening);
      settle(null, false);
    } else if (!takesFile(file.fieldname)) settle(null, false);
    else if (filter) filter(this.req as Request, file, settle);
    else settle(null, true);
  }
}

type Request = Parameters<multer.StorageEngine['_handleFile']>[0];
type FileFilter = NonNullable<multer.Options['fileFilter']>;
type Decide = (error: unknown, accepted?: boolean) => void;

/** What busboy has cut off of a field. */
interface Truncation {
  readonly nameTruncated: boolean;
  readonly valueTruncated: boolean;
}

/** The checks of multer's own listener, and one that it does not have. */
function mistakeIn(
  name: string | undefined,
  value: string | undefined,
  { nameTruncated, valueTruncated }: Truncation,
  longestName: number,
): Error | undefined {
  if (name === undefined) return new multer.MulterError('MISSING_FIELD_NAME');
  if (nameTruncated || name.length > longestName) return new multer.MulterError('LIMIT_FIELD_KEY');
  if (valueTruncated) return new multer.MulterError('LIMIT_FIELD_VALUE', name);
  if (value === undefined)
    return new Problem(
      'body-malformed',
      `The form field ${JSON.stringify(name.slice(0, 80))} is in a charset that is not supported.`,
    );
  return undefined;
}

/** Values by name; of a repeated name, an array. Without a prototype: `__proto__` is a name like any other. */
export function valuesByName({ fields }: Form): Record<string, string | string[]> {
  const body = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of fields) {
    const known = body[name];
    if (Array.isArray(known)) known.push(value);
    else body[name] = known === undefined ? value : [known, value];
  }
  return body;
}

/** The storage of a form that is only measured: sizes are counted, bytes are dropped. */
export const measuring: multer.StorageEngine = {
  _handleFile(_req, { stream }, done) {
    let size = 0;
    stream
      .on('data', (chunk: Buffer) => {
        size += chunk.length;
      })
      .on('end', () => {
        done(null, { size });
      });
  },
  _removeFile(_req, _file, done) {
    done(null);
  },
};
