import { basename, dirname } from 'node:path';

/** The files that a parser has left: in one list, or by their fields. */
export interface WithFiles {
  file?: unknown;
  files?: unknown;
}

/** A file of express-fileupload, formidable, connect-multiparty or express-form-data, whichever members it has. */
interface ForeignFile {
  readonly fieldname?: unknown;
  readonly originalname?: unknown;
  /** The name, of formidable 2 and 3 and connect-multiparty. */
  readonly originalFilename?: unknown;
  /** The name, of express-fileupload and formidable 1. */
  readonly name?: unknown;
  readonly size?: unknown;
  readonly encoding?: unknown;
  readonly mimetype?: unknown;
  /** The media type, of formidable 1 and connect-multiparty; null if the client sent none. */
  readonly type?: unknown;
  readonly buffer?: unknown;
  /** The content, of express-fileupload; empty if it is in `tempFilePath`. */
  readonly data?: unknown;
  readonly path?: unknown;
  /** The path, of formidable 2 and 3. */
  readonly filepath?: unknown;
  /** The path, of express-fileupload; empty if the content is in `data`. */
  readonly tempFilePath?: unknown;
}

const NO_FILES: readonly Express.Multer.File[] = [];

/** The objects that parsers left, by the files that were made of them. */
const foreign = new WeakMap<Express.Multer.File, unknown>();

/** Returns the files that a parser has left on a request, each with the members that multer gives a file. */
export function leftFiles({ file, files }: WithFiles): readonly Express.Multer.File[] {
  if (!file && !files) return NO_FILES;
  const byField = Object.entries(files ?? {}).map(([field, value]) => [field, [value].flat()] as const);
  return [
    ...(file ? [asMulters('', file)] : []),
    ...byField.flatMap(([field, values]) => values.map(value => asMulters(field, value))),
  ];
}

/** Returns the object that the parser has left for a file: application code may have put it elsewhere, too. */
export const asLeft = (file: Express.Multer.File): unknown => foreign.get(file) ?? file;

/** Returns true for a file of another parser than multer. */
export const isFromOtherParser = (file: Express.Multer.File): boolean => foreign.has(file);

/**
 * Checks that a file has a name and a size.
 * @throws Error if it has not: two different files would look equal, and a handler would store `undefined` as its name.
 */
export function checkIsKnown({ originalname, size }: { originalname?: unknown; size?: unknown }): void {
  if (typeof originalname !== 'string' || typeof size !== 'number')
    throw new Error(
      'bindonce: the files in req.files have no name and size in a form that bindonce knows. Mount bindonce before ' +
        'the middleware that reads the form, or use multer.',
    );
}

/**
 * Returns a file of another parser with multer's members. The parser's own object is its prototype, so that other
 * members, such as `mv()` of express-fileupload, work; it is not changed itself, since other middlewares may read it.
 * @param field the name of its field, which these parsers keep as the key in `req.files` only.
 */
function asMulters(field: string, left: unknown): Express.Multer.File {
  const known: ForeignFile = typeof left === 'object' && left !== null ? left : {};
  const { fieldname, originalname, mimetype } = known;
  if ([fieldname, originalname, mimetype].every(one => typeof one === 'string')) return left as Express.Multer.File;
  // Not by assignment, which an object that is frozen, or has accessors, would refuse to what is made of it.
  const members = Object.getOwnPropertyDescriptors(membersOf(field, known));
  const file = Object.create(known, members) as Express.Multer.File;
  foreign.set(file, left);
  return file;
}

function membersOf(field: string, left: ForeignFile): object {
  const path = firstText(left.path, left.filepath, left.tempFilePath);
  const content = [left.buffer, left.data].find(one => Buffer.isBuffer(one) && (one.length > 0 || path === undefined));
  return {
    fieldname: firstText(left.fieldname) ?? field,
    originalname: [left.originalname, left.originalFilename, left.name].find(one => typeof one === 'string'),
    // As multer has them where the client sent none (RFC 7578, section 4.4).
    encoding: firstText(left.encoding) ?? '7bit',
    mimetype: firstText(left.mimetype, left.type) ?? 'text/plain',
    size: left.size,
    ...(content !== undefined && { buffer: content }),
    ...(path !== undefined && { destination: dirname(path), filename: basename(path), path }),
  };
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}
