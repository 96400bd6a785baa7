import type { ServerResponse } from 'node:http';

/** What node's responses have, and its types lack: what waits for its turn on the connection, and a note. */
interface Queueing {
  readonly outputData?: readonly unknown[];
  readonly _headerSent?: boolean;
}

/** The first two arguments of `write` and `end`. */
export type Content = [content: Buffer | string, encoding: 'latin1' | 'utf8'];

/**
 * Returns bytes so that node sends them behind the head of a response. A pipelined response queues all that it sends
 * until it is its turn, also a `100 Continue` or early hints. If its content is a Buffer, node puts the head before
 * what is queued, so that the client takes the `100 Continue` for content; if it is text, it joins the two.
 */
export function contentFor(res: ServerResponse, bytes: Buffer): Content {
  const { outputData, _headerSent } = res as Queueing;
  // Of bytes, the encoding has no effect.
  return outputData?.length && !_headerSent ? [bytes.toString('latin1'), 'latin1'] : [bytes, 'utf8'];
}
