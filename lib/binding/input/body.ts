import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Form } from '../../body/form/form';
import { bodyKindOf, hasBody, mediaTypeOf, type BodyKind, type MediaType } from '../../body/content/media-type';
import { leftBehind } from '../../body/left-behind';
import { isUntouched, receive } from '../../body/receive';
import type { Received } from '../../body/stream/received';
import { Problem } from '../../problems/problem';
import { after, type Awaitable } from '../../basics/awaitable';
import type { BodyUse } from '../plan/plan';
import { describeJsonError, parseExactly } from '../../body/content/exact-json';
import { canBeStreamed, formIn, streamForm } from './form-body';
import { accepts, textIn, unsupported, type Incoming } from './incoming';
import type { ResolvedOptions } from './endpoint';

/** The body of a request as the dto can use it. `none`: the request has none, or the dto uses none. */
export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  /** `form`: the same body, parsed, if it is a form that the endpoint accepts. */
  | { readonly kind: 'text'; readonly text: string; readonly form: Form | undefined }
  | { readonly kind: 'form'; readonly form: Form };

const NONE: Body = { kind: 'none' };

/**
 * Reads the body: streams a form, or receives the body once and parses it.
 * @throws a 415 problem for a kind of body that the dto cannot use, 413 if it is too large, 400 if it is malformed.
 */
export function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  use: BodyUse,
  options: ResolvedOptions,
): Awaitable<Body> {
  if (!(use.json || use.form || use.text) || !hasBody(req)) return NONE;
  const mediaType = mediaTypeOf(req);
  const incoming: Incoming = { req, res, mediaType, kind: kindOf(mediaType, req, options), use, options };
  const isAccepted = use.text || accepts(incoming.kind, incoming);
  if (!isAccepted && !mayBeEmpty(incoming)) throw unsupported(incoming);
  const isMultipart = isAccepted && incoming.kind === 'multipart';
  if (isMultipart && canBeStreamed(incoming))
    return after(streamForm(incoming), form => (form ? { kind: 'form', form } : NONE));
  // The form of an earlier parser, or of `idempotency()`, has been bounded there; its files are bounded again below.
  const limit = isMultipart && !use.text ? Number.MAX_SAFE_INTEGER : options.limits.bodyBytes;
  return after(receive(req, res, limit), received => bodyIn(received, incoming));
}

/** JSON may have another media type: by `jsonTypes`, or because `express.json({ type: () => true })` has read it. */
function kindOf(mediaType: MediaType, req: IncomingMessage, { jsonTypes }: ResolvedOptions): BodyKind {
  const { type } = mediaType;
  if (jsonTypes.includes(type)) return 'json';
  if ((type !== '' && type !== 'text/plain') || isUntouched(req)) return bodyKindOf(mediaType);
  const left = leftBehind(req);
  return left?.kind === 'parsed' && typeof left.body !== 'string' ? 'json' : 'other';
}

/**
 * Returns true for a chunked request: it may turn out to have no body, which shows only when it is read. An empty body
 * is never answered with 415.
 */
function mayBeEmpty({ req }: Incoming): boolean {
  return req.headers['transfer-encoding'] !== undefined;
}

const isEmpty = (received: Received): boolean =>
  received.kind === 'none' || (received.kind === 'bytes' && received.bytes.size === 0);

/** Makes the body for the dto out of what was received. */
function bodyIn(received: Received, incoming: Incoming): Awaitable<Body> {
  const { kind, use } = incoming;
  if (isEmpty(received)) return NONE;
  if (use.text) return textBody(received, incoming);
  if (!accepts(kind, incoming)) throw unsupported(incoming);
  return kind === 'json'
    ? jsonBody(received, incoming)
    : after(formIn(received, incoming), form => ({ kind: 'form', form }));
}

/** Reads the text of the body for `plainText()`, and the form, too, if the body is one. */
async function textBody(received: Received, incoming: Incoming): Promise<Body> {
  const { mediaType, kind, options } = incoming;
  const text = await textIn(received, mediaType, options.limits);
  const isForm = kind !== 'json' && accepts(kind, incoming);
  return { kind: 'text', text, form: isForm ? await formIn(received, incoming) : undefined };
}

/** Text that an earlier parser has left is that of the body; anything else is the value that it has made of it. */
function jsonBody(received: Received, { mediaType, use, options: { limits } }: Incoming): Awaitable<Body> {
  if (received.kind === 'parsed' && typeof received.body !== 'string') return { kind: 'json', value: received.body };
  return after(textIn(received, mediaType, limits), text => jsonIn(text, use));
}

/** Matches text of nothing but the blanks of JSON (RFC 8259, section 2). */
const BLANK = /^[\t\n\r ]*$/;

/** Reads the text of a JSON body. @throws a 400 problem */
export function jsonIn(text: string, use: BodyUse): Body {
  if (BLANK.test(text)) return NONE;
  try {
    return { kind: 'json', value: use.needsExactNumbers ? parseExactly(text) : (JSON.parse(text) as unknown) };
  } catch (error) {
    throw new Problem('body-malformed', describeJsonError('The body', text), { cause: error });
  }
}
