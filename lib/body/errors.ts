import { Problem } from '../problems/problem';

/** The client disconnected before its request was complete, so there is no one to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection before the request was complete');
  }
}

/** Makes the 413 problem of a body over the limit. */
export const bodyTooLarge = (limit: number): Problem =>
  new Problem('body-too-large', `The request body is larger than ${limit} bytes.`);

/** Makes the error for a body that is gone: it must not be taken for an empty one. */
export const readElsewhere = (): Error =>
  new Error(
    'bindonce: the request body was read before this middleware, and neither req.body nor req.rawBody was set. ' +
      'Mount it before the middleware that reads the body, or set req.rawBody to the bytes.',
  );
