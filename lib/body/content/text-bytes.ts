import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { isCoded } from './decode';
import { lengthSent, mediaTypeOf } from './media-type';

/** The byte order mark in UTF-8, which decoders remove (WHATWG Encoding, section 6). */
const MARK = Buffer.from('\ufeff');

/**
 * Returns the bytes of a body that a text parser has left as text; undefined if they may have been others: U+FFFD
 * stands for bytes that are lost, and so does half a character, which becomes U+FFFD. Otherwise decoding keeps the
 * bytes if the text, as UTF-8, has as many as were sent, but for a byte order mark: other charsets and compression
 * change the length. Of a chunked body the length is unknown.
 */
export function bytesOfText(text: string, req: IncomingMessage): Buffer | undefined {
  const bytes = Buffer.from(text);
  if (bytes.includes('\ufffd')) return undefined;
  const sent = lengthSent(req);
  if (sent === undefined) return isSentAsUtf8(req) && !isReadAsLatin1(text) ? bytes : undefined;
  if (sent === bytes.length) return bytes;
  return sent === bytes.length + MARK.length ? Buffer.concat([MARK, bytes]) : undefined;
}

function isSentAsUtf8(req: IncomingMessage): boolean {
  const { charset = 'utf-8' } = mediaTypeOf(req).parameters;
  return /^utf-?8$/.test(charset) && !isCoded(req.headers['content-encoding']);
}

/** Returns true for `Ã©`, which is the UTF-8 of `é` if each byte is taken for a character. */
function isReadAsLatin1(text: string): boolean {
  const isAscii = Buffer.byteLength(text) === text.length;
  return !isAscii && !/[\u0100-\uffff]/.test(text) && isUtf8(Buffer.from(text, 'latin1'));
}
