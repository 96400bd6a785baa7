import type { IncomingMessage } from 'node:http';
import { lengthSent } from './media-type';

/**
 * Returns the bytes of a body that a text parser has left as text; undefined if they may have been others. Decoding
 * keeps the bytes if the text, as UTF-8, has as many as were sent: U+FFFD stands for bytes that are lost, and other
 * charsets and compression change the length.
 */
export function bytesOfText(text: string, req: IncomingMessage): Buffer | undefined {
  const isWhole = Buffer.byteLength(text) === lengthSent(req) && !text.includes('\ufffd');
  return isWhole ? Buffer.from(text) : undefined;
}
