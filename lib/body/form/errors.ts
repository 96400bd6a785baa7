import multer from 'multer';
import { Problem } from '../../problems/problem';

/** Wraps an error of a storage, a filter or the connection ("the bucket is gone"), which is not the form's fault. */
export class ExternalError extends Error {
  constructor(override readonly cause: unknown) {
    super('Not the fault of the form');
  }
}

const LIMIT = /^LIMIT_(FILE_SIZE|FILE_COUNT|FIELD_COUNT|FIELD_VALUE|FIELD_KEY|PART_COUNT)$/;

/** Returns the error to throw for a form: a problem where the form is at fault, else the error itself. */
export function reasonFor(error: unknown): Error {
  if (error instanceof Problem) return error;
  if (error instanceof ExternalError)
    return error.cause instanceof Error ? error.cause : new Error(String(error.cause));
  if (error instanceof multer.MulterError) {
    const name = error.field === undefined ? '' : ` (${JSON.stringify(error.field.slice(0, 80))})`;
    return new Problem(LIMIT.test(error.code) ? 'body-too-large' : 'body-malformed', `${error.message}${name}.`, {
      cause: error,
    });
  }
  return new Problem('body-malformed', 'The multipart form is malformed.', { cause: error });
}
