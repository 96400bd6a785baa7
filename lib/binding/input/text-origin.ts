import type { IncomingMessage } from 'node:http';
import { isCoded } from '../../body/content/decode';
import type { MediaType } from '../../body/content/media-type';
import { Problem } from '../../problems/problem';
import { warnOnce } from '../../warnings/warn-once';

/** The parser that left text of a JSON body in `req.body`. */
type TextOrigin = 'text parser' | 'JSON parser' | 'unknown';

/**
 * Distinguishes the text of a JSON body, as `express.text()` leaves it, from the value of a JSON string, as
 * `express.json({ strict: false })` leaves it, which must not be parsed a second time. A body that is too short to be a
 * JSON string of this value is the text itself, of which a parser may have dropped the byte order mark. This works only
 * if the length is known and the text is UTF-8. (Text after a mark that has nothing to escape may be taken for a value:
 * the mark has as many bytes as quotation marks and a line break.)
 */
export function originOf(text: string, { headers }: IncomingMessage, { parameters }: MediaType): TextOrigin {
  const length = Number(headers['content-length'] ?? Number.NaN);
  const isUtf8 = /^utf-?8$/i.test(parameters['charset'] ?? 'utf-8') && !text.includes('\ufffd');
  const isUnknown = isCoded(headers['content-encoding']) || !isUtf8 || Number.isNaN(length);
  if (isUnknown || Buffer.byteLength(text) > length) return 'unknown';
  // It writes the shortest JSON of a string.
  return length < Buffer.byteLength(JSON.stringify(text)) ? 'text parser' : 'JSON parser';
}

/** Refuses text that may or may not have been parsed. */
export function originUnknown(): Problem {
  warnOnce(
    'BINDONCE_BODY_TEXT',
    'bindRequest: req.body is text, and bindonce cannot tell whether it has been parsed as JSON, because the body ' +
      'came without a Content-Length, compressed, or not as UTF-8. The client got 415. Mount bindRequest() before ' +
      'the parser (express.text(), or express.json() with strict: false), or let the parser keep the bytes in ' +
      'req.rawBody.',
  );
  return new Problem(
    'body-unsupported',
    'A JSON body is accepted here only as UTF-8, uncompressed, and with a Content-Length.',
    { headers: { Accept: 'application/json' } },
  );
}
