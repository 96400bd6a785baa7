import type { IncomingMessage } from 'node:http';
import { bodyTooLarge } from './errors';

/** @throws a 413 problem for a body whose declared length is over the limit. */
export function checkDeclaredLength(req: IncomingMessage, limit: number): void {
  if (Number(req.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit);
}

/** Yields the chunks of a body. @throws a 413 problem at the first byte over the limit. */
export async function* bounded(chunks: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Buffer, void> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw bodyTooLarge(limit);
    yield chunk;
  }
}
