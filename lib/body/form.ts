import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import multer from 'multer';
import { Problem } from '../problems/problem';
import { bodyTooLarge } from './errors';
import type { Pair } from './pairs';

/** A multipart form: its fields in the order they were sent, and its files as multer describes them. */
export interface Form {
  readonly fields: readonly Pair[];
  readonly files: readonly Express.Multer.File[];
}

/** What multer is told: where files go, and how much of everything is accepted. */
export type FormSettings = Pick<multer.Options, 'storage' | 'limits' | 'fileFilter' | 'preservePath'> & {
  /** Bytes of all fields together: multer bounds each, and their number. */
  readonly fieldsBytes?: number;
  /** Bytes of the whole form. */
  readonly formBytes?: number;
};

/**
 * Makes a reader of multipart/form-data (RFC 7578). Multer stores the files and counts everything; the fields are taken
 * from its parser as flat pairs, because `req.body` as multer builds it folds `a[0][b]` and loses the order.
 */
export function formReader(settings: FormSettings): (source: IncomingMessage, takesFile?: (name: string) => boolean) => Promise<Form> {
  const { fileFilter = acceptAll, fieldsBytes = Infinity, formBytes = Infinity, ...options } = settings;
  const takers = new WeakMap<object, (name: string) => boolean>();
  const collected = new WeakMap<object, Pair[]>();
  const { fieldNameSize = Infinity } = typeof settings.limits === 'object' ? settings.limits : {};
  const filter = markingRefusals(fileFilter);
  const parser = multer({
    defParamCharset: 'utf8',
    ...options,
    storage: markingFailures(settings.storage ?? multer.memoryStorage()),
    fileFilter(req, file, done) {
      if (takers.get(req)?.(file.fieldname) === false) done(null, false);
      else filter(req, file, done);
    },
    streamHandler(source: Readable, busboy: Writable) {
      breakOffOpenFiles(busboy);
      const fields: Pair[] = [];
      collected.set(source, fields);
      let bytes = 0;
      // Multer's own listener would nest the fields, and of `x[4294967294]` and `x[b]` walk four billion holes.
      busboy.removeAllListeners('field');
      busboy.on('field', (name: string | undefined, value: string | undefined, cut: Truncation) => {
        const mistake = mistakeIn(name, value, cut, fieldNameSize);
        if (mistake) {
          busboy.emit('error', mistake);
          return;
        }
        const field: Pair = [name ?? '', value ?? ''];
        fields.push(field);
        bytes += Buffer.byteLength(field.join(''));
        if (bytes > fieldsBytes) busboy.emit('error', bodyTooLarge(fieldsBytes));
      });
      let left = formBytes;
      source.on('data', (chunk: Buffer) => {
        if (left >= 0 && (left -= chunk.length) < 0) busboy.emit('error', bodyTooLarge(formBytes));
      });
      source.pipe(busboy);
    },
  } as multer.Options).any();

  return (source, takesFile = () => true) => new Promise((resolve, reject) => {
    takers.set(source, takesFile);
    parser(source as Parameters<typeof parser>[0], undefined as never, (error?: unknown) => {
      if (error) reject(reasonFor(error));
      // Multer leaves alone what it does not take for multipart; an unread form must not pass for an empty one.
      else if (!collected.has(source)) reject(new Problem('body-malformed', 'The content type of the multipart form is malformed.'));
      else {
        const fields = collected.get(source) ?? [];
        // What multer leaves for a handler, but flat.
        Object.assign(source, { body: bodyOf(fields) });
        resolve({ fields, files: ((source as { files?: Express.Multer.File[] }).files ?? []) });
      }
    });
  });
}

/**
 * A file that begins after the closing boundary never ends: busboy would wait for it, multer for busboy, and the client for
 * an answer. When all of the form has been read, such a file is broken off.
 */
function breakOffOpenFiles(busboy: Writable): void {
  const open = new Set<Readable>();
  busboy.on('file', (_name: unknown, stream: Readable) => {
    const push = stream.push.bind(stream);
    open.add(stream);
    stream.push = (chunk, encoding) => {
      if (chunk === null) open.delete(stream);
      return push(chunk, encoding);
    };
  });
  const finish = busboy._final.bind(busboy);
  busboy._final = done => {
    for (const stream of open) stream.destroy(new Error('Unexpected end of form'));
    finish(done);
  };
}

/** What busboy has cut off of a field. */
interface Truncation {
  readonly nameTruncated: boolean;
  readonly valueTruncated: boolean;
}

/** The checks of multer's own listener, and one that it does not have. */
function mistakeIn(name: string | undefined, value: string | undefined, { nameTruncated, valueTruncated }: Truncation, longestName: number): Error | undefined {
  if (name === undefined) return new multer.MulterError('MISSING_FIELD_NAME');
  if (nameTruncated || name.length > longestName) return new multer.MulterError('LIMIT_FIELD_KEY');
  if (valueTruncated) return new multer.MulterError('LIMIT_FIELD_VALUE', name);
  if (value === undefined) return new Problem('body-malformed', `The form field ${JSON.stringify(name.slice(0, 80))} is in a charset that is not supported.`);
  return undefined;
}

/** Values by name; of a repeated name, an array. Without a prototype: `__proto__` is a name like any other. */
function bodyOf(fields: readonly Pair[]): Record<string, string | string[]> {
  const body = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of fields) {
    const known = body[name];
    if (Array.isArray(known)) known.push(value);
    else body[name] = known === undefined ? value : [known, value];
  }
  return body;
}

/** Lets a stream of bytes stand in for the request that they came with. */
export function asRequest(bytes: Readable, req: IncomingMessage): IncomingMessage {
  return Object.assign(bytes, { headers: req.headers, [REAL]: req }) as unknown as IncomingMessage;
}

/** The storage of a form that is only measured: sizes are counted, bytes are dropped. */
export const measuring: multer.StorageEngine = {
  _handleFile(_req, { stream }, done) {
    let size = 0;
    stream.on('data', (chunk: Buffer) => { size += chunk.length; }).on('end', () => { done(null, { size }); });
  },
  _removeFile(_req, _file, done) { done(null); },
};

/** What a storage or a filter says (a full disk, a bucket that is gone, "no such files here") is not the form's fault. */
class OwnError extends Error {}

const marked = (error: unknown): Error | null => (error === undefined || error === null ? null : new OwnError('', { cause: error }));

function markingFailures(storage: multer.StorageEngine): multer.StorageEngine {
  return {
    _handleFile(req, file, done) {
      storage._handleFile(standsFor(req), file, (error?: unknown, info?) => { done(marked(error), info); });
    },
    _removeFile(req, file, done) { storage._removeFile(standsFor(req), file, done); },
  };
}

const acceptAll: FileFilter = (_req, _file, done) => { done(null, true); };

type FileFilter = NonNullable<multer.Options['fileFilter']>;

function markingRefusals(filter: FileFilter): FileFilter {
  return (req, file, done) => {
    const decide = done as (error: Error | null, accepted?: boolean) => void;
    filter(standsFor(req), file, (error?: unknown, accepted?: boolean) => { decide(marked(error), accepted); });
  };
}

/** A storage or a filter that asks who uploads gets the real request. */
const REAL = Symbol('real request');

function standsFor<R extends object>(req: R): R {
  return (req as { [REAL]?: R })[REAL] ?? req;
}

function reasonFor(error: unknown): Error {
  if (error instanceof Problem) return error;
  if (error instanceof OwnError) return error.cause instanceof Error ? error.cause : new Error(String(error.cause));
  if (error instanceof multer.MulterError) {
    const code = /^LIMIT_(FILE_SIZE|FILE_COUNT|FIELD_COUNT|FIELD_VALUE|FIELD_KEY|PART_COUNT|FIELD_NESTING|FIELD_ARRAY_INDEX)$/.test(error.code) ? 'body-too-large' : 'body-malformed';
    const name = error.field === undefined ? '' : ` (${JSON.stringify(error.field.slice(0, 80))})`;
    return new Problem(code, `${error.message}${name}.`, { cause: error });
  }
  return new Problem('body-malformed', 'The multipart form is malformed.', { cause: error });
}
