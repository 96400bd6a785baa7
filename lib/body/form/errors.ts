import multer from 'multer';
import { Problem } from '../../problems/problem';
import type { FormOptions } from './form';

/** Wraps an error of a storage, a filter or the connection ("the bucket is gone"), which is not the form's fault. */
export class ExternalError extends Error {
  constructor(override readonly cause: unknown) {
    super('Not the fault of the form');
  }
}

interface Limit {
  readonly name: keyof FormOptions['limits'];
  /** @param field the field that exceeds it, quoted, after a space; empty if it has no name. */
  readonly messageFor: (most: number, field: string) => string;
}

/** The limits that a form can exceed, by the codes of multer, whose own messages do not say how much is allowed. */
const limitsByCode: Readonly<Record<string, Limit>> = {
  LIMIT_FILE_SIZE: { name: 'fileSize', messageFor: (most, field) => `The file${field} is larger than ${most} bytes.` },
  LIMIT_FILE_COUNT: { name: 'files', messageFor: most => `The form has more than ${most} files.` },
  LIMIT_FIELD_COUNT: { name: 'fields', messageFor: most => `The form has more than ${most} fields.` },
  LIMIT_FIELD_VALUE: {
    name: 'fieldSize',
    messageFor: (most, field) => `The field${field} is larger than ${most} bytes.`,
  },
  LIMIT_FIELD_KEY: {
    name: 'fieldNameSize',
    messageFor: most => `A name in the form is longer than ${most} characters.`,
  },
  LIMIT_PART_COUNT: { name: 'parts', messageFor: most => `The form has more than ${most} fields and files together.` },
};

/**
 * Returns the error to throw for a form: a problem where the form is at fault, else the error itself.
 * @param options those that the form was read with.
 */
export function reasonFor(error: unknown, { limits }: FormOptions): Error {
  if (error instanceof Problem) return error;
  if (error instanceof ExternalError)
    return error.cause instanceof Error ? error.cause : new Error(String(error.cause));
  if (error instanceof multer.MulterError) return problemFor(error, limits);
  return malformed('The multipart form is malformed.', error);
}

export const malformed = (message: string, cause?: unknown): Problem =>
  new Problem('body-malformed', message, { cause });

function problemFor(error: multer.MulterError, limits: FormOptions['limits']): Problem {
  const field = error.field === undefined ? '' : ` ${JSON.stringify(error.field.slice(0, 80))}`;
  const limit = limitsByCode[error.code];
  return limit
    ? new Problem('body-too-large', limit.messageFor(limits[limit.name] ?? Infinity, field), { cause: error })
    : malformed(`The multipart form is malformed: ${error.message}${field}.`, error);
}
