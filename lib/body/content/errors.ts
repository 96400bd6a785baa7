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

/** Makes the error for a multipart form that was left as text: its boundary is in it, and files may be damaged. */
export const formLeftAsText = (): Error =>
  new Error(
    'bindonce: a middleware that is mounted earlier, such as express.text(), has left a multipart form in req.body ' +
      'as text. Mount bindonce before that middleware, or set req.rawBody to the bytes.',
  );

/** Makes the error for files of a form that another parser than multer has left. */
export const unknownFiles = (): Error =>
  new Error(
    'bindonce: req.files holds files that multer has not made. Mount bindonce before the middleware that reads the ' +
      'form, or use multer.',
  );
