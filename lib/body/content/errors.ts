import { Problem } from '../../problems/problem';

/** Makes the 413 problem of a body over the limit. */
export const bodyTooLarge = (limit: number): Problem =>
  new Problem('body-too-large', `The request body is larger than ${limit} bytes.`);

/** Makes the 413 problem of a multipart form whose fields, without its files, are together over the limit. */
export const fieldsTooLarge = (limit: number): Problem =>
  new Problem('body-too-large', `The fields of the form are together larger than ${limit} bytes.`);

/** Makes the 413 problem of a form with more fields than the limit. */
export const tooManyFields = (limit: number): Problem =>
  new Problem('body-too-large', `The form has more than ${limit} fields.`);

/** Makes the error for a body that is gone: it must not be taken for an empty one. */
export const readElsewhere = (): Error =>
  new Error(
    'bindonce: the request body was read before this middleware, and neither req.body nor req.rawBody tells what was ' +
      'in it. (An empty object in req.body may stand for another body.) Mount it before the middleware that reads ' +
      'the body, or set req.rawBody to the bytes.',
  );

/** Makes the error for a body that node decodes as it arrives: different bytes may have become the same text. */
export const decodedBefore = (): Error =>
  new Error(
    'bindonce: an earlier middleware has called req.setEncoding(), so the bytes of the body cannot be read. Remove ' +
      'that call, or mount bindonce before that middleware.',
  );

const leftAsText = (what: string): Error =>
  new Error(
    `bindonce: a middleware that is mounted earlier, such as express.text() or a logger, has left ${what} as text ` +
      'from which its bytes cannot be restored: it contains U+FFFD, which stands for bytes that are not UTF-8, or ' +
      'the body was read in another charset, was sent compressed, or has another length. Mount bindonce before ' +
      'that middleware, or set req.rawBody to the bytes.',
  );

/** Makes the error for a multipart form whose bytes are gone: its text has the boundary, and files may be damaged. */
export const formLeftAsText = (): Error => leftAsText('a multipart form in req.body');

/** Makes the error for a body whose bytes are gone: different bytes may have become the same text. */
export const bodyLeftAsText = (): Error => leftAsText('the request body in req.rawBody');
