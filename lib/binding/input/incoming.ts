import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, type Awaitable } from '../../basics/awaitable';
import { decodedText, uncompressed } from '../../body/content/decode';
import type { BodyKind, MediaType } from '../../body/content/media-type';
import type { Received } from '../../body/stream/received';
import { Problem } from '../../problems/problem';
import { warnOnce } from '../../warnings/warn-once';
import type { BodyUse } from '../plan/plan';
import type { ResolvedLimits } from '../reading/limits';
import type { ResolvedOptions } from './endpoint';

/** A request whose body is to be read. */
export interface Incoming {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly mediaType: MediaType;
  readonly kind: BodyKind;
  readonly use: BodyUse;
  readonly options: ResolvedOptions;
}

/** Returns true if the dto can use a kind of body that the endpoint accepts. */
export function accepts(kind: BodyKind, { use, options }: Pick<Incoming, 'use' | 'options'>): boolean {
  switch (kind) {
    case 'json':
      return use.json;
    case 'multipart':
      return use.form && options.allowMultipart;
    case 'urlencoded':
      return use.form && options.allowUrlEncoded;
    case 'other':
      return false;
  }
}

const MEDIA_TYPES = [
  ['json', 'application/json'],
  ['multipart', 'multipart/form-data'],
  ['urlencoded', 'application/x-www-form-urlencoded'],
] as const;

/** Makes the refusal of a body that the dto cannot use. */
export function unsupported(incoming: Incoming): Problem {
  const accepted = MEDIA_TYPES.filter(([kind]) => accepts(kind, incoming)).map(([, type]) => type);
  return notAccepted(incoming.mediaType, accepted);
}

/** RFC 9110, section 15.5.16: a 415 response may name what would have been accepted. */
function notAccepted({ type }: MediaType, accepted: readonly string[]): Problem {
  const what = type === '' ? 'A body without a content type' : `The content type "${type.slice(0, 80)}"`;
  if (accepted.length === 0) return new Problem('body-unsupported', `${what} is not accepted here.`);
  const headers = { Accept: accepted.join(', ') };
  return new Problem('body-unsupported', `${what} is not accepted here; send ${accepted.join(' or ')}.`, { headers });
}

/** Decodes the text of a received body. @throws a 400, 413 or 415 problem if it is not text within the limits. */
export function textIn(received: Received, mediaType: MediaType, limits: ResolvedLimits): Awaitable<string> {
  switch (received.kind) {
    case 'none':
      return '';
    case 'bytes':
      return after(received.bytes.all(), bytes =>
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
function textIsGone(mediaType: MediaType): Problem {
  warnOnce(
    'BINDONCE_TEXT_IS_GONE',
    'bindRequest: plainText() needs the body as it was sent, but a parser that is mounted before bindRequest(), such ' +
      'as express.json(), has consumed it. The client got 415. Mount bindRequest() before the parser, or let the ' +
      'parser keep the bytes in req.rawBody.',
  );
  return notAccepted(mediaType, ['text/plain']);
}
