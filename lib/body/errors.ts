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
