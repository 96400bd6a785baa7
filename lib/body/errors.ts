import { Problem } from '../problems/problem';

/** The client hung up before its request was complete: there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection before the request was complete');
  }
}

export const bodyTooLarge = (limit: number): Problem =>
  new Problem('body-too-large', `The request body is larger than ${limit} bytes.`);

/** A body that cannot be seen must not be taken for an empty one. */
export const readElsewhere = (): Error =>
  new Error(
    'bindonce: the request body was read before this middleware and neither req.body nor req.rawBody was left behind. Mount it before whatever reads the body, or set req.rawBody to the bytes.',
  );
