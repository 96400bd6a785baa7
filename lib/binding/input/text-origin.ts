import type { IncomingMessage } from 'node:http';
import type { MediaType } from '../../body/media-type';
import { Problem } from '../../problems/problem';
import { warnOnce } from '../../warnings/warn-once';

/** Where text comes from that an earlier parser has left of a JSON body. */
export type TextOrigin = 'text parser' | 'JSON parser' | 'unknown';

/**
 * Tells the text of a JSON body, as `express.text()` leaves it, from the text in a JSON string, as `express.json({ strict: false })`
 * leaves it: JSON in that must not be parsed a second time. Parsing takes bytes away, the quotation marks at least, so text that
 * is as long as the body was is the body itself. That shows only where the length is known, and every byte is in the text.
 */
export function originOf(text: string, { headers }: IncomingMessage, { parameters }: MediaType): TextOrigin {
  const length = Number(headers['content-length'] ?? Number.NaN);
  const isCoded = !/^(?:identity)?$/i.test(headers['content-encoding']?.trim() ?? '');
  const isUtf8 = /^utf-?8$/i.test(parameters['charset'] ?? 'utf-8') && !text.includes('\ufffd');
  const bytes = Buffer.byteLength(text);
  if (isCoded || !isUtf8 || Number.isNaN(length) || bytes > length) return 'unknown';
  return bytes === length ? 'text parser' : 'JSON parser';
}

/** The refusal of text of which it cannot be told whether it has been parsed. */
export function originUnknown(): Problem {
  warnOnce(
    'BINDONCE_BODY_TEXT',
    'bindonce: req.body is a text, and whether it is JSON still to be parsed cannot be told, because the body came without a Content-Length, compressed, or not as UTF-8; the client got 415. Mount bindRequest() before the parser (express.text(), or express.json() with strict: false), or let the parser keep the bytes in req.rawBody.',
  );
  return new Problem(
    'body-unsupported',
    'A JSON body is accepted here only as UTF-8, uncompressed, and with a Content-Length.',
    { headers: { Accept: 'application/json' } },
  );
}
