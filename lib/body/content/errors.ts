import { Problem } from '../../problems/problem';

/** Makes the 413 problem of a body over the limit. */
export const bodyTooLarge = (limit: number): Problem =>
  new Problem('body-too-large', `The request body is larger than ${limit} bytes.`);

/** Makes the 413 problem of a form with more values than the limit. */
export const tooManyValues = (limit: number): Problem =>
  new Problem('body-too-large', `There are more than ${limit} values.`);

/** Makes the error for a body that is gone: it must not be taken for an empty one. */
export const readElsewhere = (): Error =>
  new Error(
    'bindonce: the request body was read before this middleware, and neither req.body nor req.rawBody was set. ' +
      'Mount it before the middleware that reads the body, or set req.rawBody to the bytes.',
  );

/** Makes the error for a multipart form whose bytes are gone: its text has the boundary, and files may be damaged. */
export const formLeftAsText = (): Error =>
  new Error(
    'bindonce: a middleware that is mounted earlier, such as express.text(), has left a multipart form in req.body ' +
      'as text from which its bytes cannot be restored: they are not UTF-8, or they were sent compressed or without ' +
      'a Content-Length. Mount bindonce before that middleware, or set req.rawBody to the bytes.',
  );
