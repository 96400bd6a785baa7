import { textOf, uncompressed } from '../../body/decode';
import type { MediaType } from '../../body/media-type';
import { allBytes, type Received } from '../../body/received';
import { Problem } from '../../problems/problem';
import { warnOnce } from '../../warnings/warn-once';
import type { ResolvedLimits } from '../reading/limits';

/** The text of a received body. @throws a 400, 413 or 415 problem when it is no text within the limits. */
export async function textIn(received: Received, mediaType: MediaType, limits: ResolvedLimits): Promise<string> {
  switch (received.kind) {
    case 'none':
      return '';
    case 'bytes':
    case 'file':
      return textOf(await uncompressed(await allBytes(received), received.coding, limits.bodyBytes), mediaType);
    case 'parsed':
      if (typeof received.body === 'string') return received.body;
  }
  throw textIsGone(mediaType);
}

/** The refusal of a body whose text a parser has not left: the client can send another type, and the application is told what to mount. */
export function textIsGone({ type }: MediaType): Problem {
  warnOnce(
    'BINDONCE_TEXT_IS_GONE',
    'bindonce: a dto with plainText() needs the body as it was sent, but a parser that is mounted before bindRequest(), such as express.json(), has parsed it; the client got 415. Mount bindRequest() before the parser, or let the parser keep the bytes in req.rawBody.',
  );
  return new Problem(
    'body-unsupported',
    `The content type "${type.slice(0, 80)}" is not accepted here; send text/plain.`,
    { headers: { Accept: 'text/plain' } },
  );
}
