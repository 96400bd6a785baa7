import type { IncomingMessage } from 'node:http';
import { lengthSent } from './media-type';

/** The byte order mark in UTF-8, which decoders remove (WHATWG Encoding, section 6). */
const MARK = Buffer.from('\ufeff');

/**
 * Returns the bytes of a body that a text parser has left as text; undefined if they may have been others. Decoding
 * keeps the bytes if the text, as UTF-8, has as many as were sent, but for a byte order mark: U+FFFD stands for bytes
 * that are lost, and other charsets and compression change the length.
 */
export function bytesOfText(text: string, req: IncomingMessage): Buffer | undefined {
  if (text.includes('\ufffd')) return undefined;
  const bytes = Buffer.from(text);
  const sent = lengthSent(req);
  if (sent === bytes.length) return bytes;
  return sent === bytes.length + MARK.length ? Buffer.concat([MARK, bytes]) : undefined;
}
