import { after, type Awaitable } from '../../basics/awaitable';
import { decodedText, uncompressed } from '../../body/content/decode';
import type { MediaType } from '../../body/content/media-type';
import { allBytes, type Received } from '../../body/stream/received';
import { Problem } from '../../problems/problem';
import { warnOnce } from '../../warnings/warn-once';
import type { ResolvedLimits } from '../reading/limits';

/** Decodes the text of a received body. @throws a 400, 413 or 415 problem if it is not text within the limits. */
export function textIn(received: Received, mediaType: MediaType, limits: ResolvedLimits): Awaitable<string> {
  switch (received.kind) {
    case 'none':
      return '';
    case 'bytes':
    case 'file':
      return after(allBytes(received), bytes =>
        after(uncompressed(bytes, received.coding, limits.bodyBytes), decoded => decodedText(decoded, mediaType)),
      );
    case 'parsed':
      // Some parsers leave the byte order mark, which `decodedText` drops, too.
      if (typeof received.body === 'string') return received.body.replace(/^\ufeff/, '');
  }
  throw textIsGone(mediaType);
}

/**
 * Refuses a body whose text an earlier parser has consumed: the client can send another type, and a warning names the
 * mistake in mounting.
 */
export function textIsGone({ type }: MediaType): Problem {
  warnOnce(
    'BINDONCE_TEXT_IS_GONE',
    'bindRequest: plainText() needs the body as it was sent, but a parser that is mounted before bindRequest(), such ' +
      'as express.json(), has consumed it. The client got 415. Mount bindRequest() before the parser, or let the ' +
      'parser keep the bytes in req.rawBody.',
  );
  return new Problem(
    'body-unsupported',
    `The content type "${type.slice(0, 80)}" is not accepted here; send text/plain.`,
    { headers: { Accept: 'text/plain' } },
  );
}
