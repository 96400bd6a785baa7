import type multer from 'multer';
import { Problem } from '../../problems/problem';
import type { Pair } from '../content/urlencoded';

/** A multipart form: its fields in the order they were sent, and its files as multer describes them. */
export interface Form {
  readonly fields: readonly Pair[];
  readonly files: readonly Express.Multer.File[];
}

/** The parts of a form that are kept, and how they are read. */
export interface PartsTaken {
  /** True for the name of a file that is stored; others are dropped. */
  readonly takesFile: (name: string) => boolean;
  /** True for the name of a part that is read as a field even if it is sent as a JSON file, as clients send a Blob. */
  readonly takesJson: (name: string) => boolean;
}

/** How a form is read: the storage of its files, and the limits of everything in it. */
export type FormOptions = Pick<multer.Options, 'fileFilter' | 'preservePath' | 'defParamCharset'> & {
  /** The charset of fields that name none. Multer has this option since 2.5; its declarations lack it. */
  readonly defCharset?: string;
  readonly storage: multer.StorageEngine;
  readonly limits: NonNullable<Exclude<multer.Options['limits'], (...given: never[]) => unknown>>;
  /** Bytes of all fields together: multer bounds each, and their number. */
  readonly fieldsBytes?: number;
  /** Bytes of the whole form. */
  readonly formBytes?: number;
  readonly parts: PartsTaken;
  /** Called with the number of bytes of each chunk, before it is used; when it throws, the form is refused. */
  readonly take?: (bytes: number) => void;
  /** Called with the bytes of memory that each field takes, and what is known of each file; like `take`. */
  readonly takePart?: (bytes: number) => void;
};

/** What a form is told that exceeds a limit. Multer's own messages do not say how much is allowed. */
const messages = {
  fileSize: (most: number, field: string) => `The file${field} is larger than ${most} bytes.`,
  files: (most: number) => `The form has more than ${most} files.`,
  fields: (most: number) => `The form has more than ${most} fields.`,
  fieldSize: (most: number, field: string) => `The field${field} is larger than ${most} bytes.`,
  fieldNameSize: (most: number) => `A name in the form is longer than ${most} characters.`,
  parts: (most: number) => `The form has more than ${most} fields and files together.`,
} satisfies Partial<Record<keyof FormOptions['limits'], unknown>>;

/**
 * Makes the 413 problem of a form that exceeds a limit of multer.
 * @param field the name of the part that exceeds it.
 */
export function overLimit(name: keyof typeof messages, { limits }: FormOptions, field?: string): Problem {
  const quoted = field === undefined ? '' : ` ${quotedName(field)}`;
  return new Problem('body-too-large', messages[name](limits[name] ?? Infinity, quoted));
}

/** Makes the 400 problem of a form that cannot be read. */
export const malformed = (message: string, cause?: unknown): Problem =>
  new Problem('body-malformed', message, { cause });

/** Quotes the name of a part for a message. */
export const quotedName = (name: string): string => JSON.stringify(name.slice(0, 80));

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
