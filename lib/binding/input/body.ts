import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Form } from '../../body/form';
import { hasBody, kindOf, mediaTypeOf, type BodyKind, type MediaType } from '../../body/media-type';
import { receive } from '../../body/receive';
import { Problem } from '../../problems/problem';
import type { BodyUse } from '../plan/body-use';
import { after, type Awaitable } from '../reading/awaitable';
import { textIn, textIsGone } from './body-text';
import { readForm } from './form-body';
import { originOf, originUnknown } from './text-origin';
import { describeJsonError } from '../reading/json-error';
import { parseExactly } from '../reading/json-text';
import type { ResolvedOptions } from './resolved-options';

/** The body of a request as the dto can use it. `none`: there is none, or the dto has no use for any. */
export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  /** `form`: the same body once more, where it is a form that the endpoint accepts. */
  | { readonly kind: 'text'; readonly text: string; readonly form: Form | undefined }
  | { readonly kind: 'form'; readonly form: Form };

const NONE: Body = { kind: 'none' };

/** A request whose body is to be read. */
interface Incoming {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly mediaType: MediaType;
  readonly kind: BodyKind;
  readonly use: BodyUse;
  readonly settings: ResolvedOptions;
}

/**
 * Reads the body.
 * @throws a 415 problem for a kind of body that the dto cannot use, 413 when it is too large, 400 when it is malformed.
 */
export function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  use: BodyUse,
  settings: ResolvedOptions,
): Awaitable<Body> {
  if (!(use.json || use.form || use.text) || !hasBody(req)) return NONE;
  const mediaType = mediaTypeOf(req);
  const kind = kindOf(mediaType);
  const incoming: Incoming = { req, res, mediaType, kind, use, settings };
  if (use.text) return readTextAndForm(incoming);
  if (!accepts(kind, use, settings)) return refuseUnlessEmpty(incoming);
  return kind === 'json' ? readJson(incoming) : after(readForm(incoming), form => ({ kind: 'form', form }));
}

function accepts(kind: BodyKind, use: BodyUse, settings: ResolvedOptions): boolean {
  switch (kind) {
    case 'json':
      return use.json;
    case 'multipart':
      return use.form && settings.allowMultipart;
    case 'urlencoded':
      return use.form && settings.allowUrlEncoded;
    case 'other':
      return false;
  }
}

/** Whether a chunked body is one shows only when it is read; no body is never of an unsupported type. */
async function refuseUnlessEmpty({ req, res, mediaType, use, settings }: Incoming): Promise<Body> {
  if (req.headers['transfer-encoding'] !== undefined && (mediaType.type === '' || req.readableEnded)) {
    const received = await receive(req, res, settings.limits.bodyBytes);
    if (received.kind === 'none' || (received.kind === 'bytes' && received.bytes.length === 0)) return NONE;
  }
  throw unsupported(mediaType, use, settings);
}

function unsupported({ type }: MediaType, use: BodyUse, settings: ResolvedOptions): Problem {
  const accepted = [
    use.json && 'application/json',
    accepts('multipart', use, settings) && 'multipart/form-data',
    accepts('urlencoded', use, settings) && 'application/x-www-form-urlencoded',
  ].filter(Boolean);
  // RFC 9110, section 15.5.16: the answer may name what would have been accepted.
  const what = type === '' ? 'A body without a content type' : `The content type "${type.slice(0, 80)}"`;
  if (accepted.length === 0) return new Problem('body-unsupported', `${what} is not accepted here.`);
  return new Problem('body-unsupported', `${what} is not accepted here; send ${accepted.join(' or ')}.`, {
    headers: { Accept: accepted.join(', ') },
  });
}

/** SPEC, "JSON body", rule 9: the text of the body goes to one property; others still bind from a form. */
async function readTextAndForm(incoming: Incoming): Promise<Body> {
  const { req, res, mediaType, kind, use, settings } = incoming;
  const received = await receive(req, res, settings.limits.bodyBytes);
  // The text in a JSON string is not the text of the body.
  const isParsed =
    kind === 'json' &&
    received.kind === 'parsed' &&
    typeof received.body === 'string' &&
    originOf(received.body, req, mediaType) !== 'text parser';
  if (isParsed) throw textIsGone(mediaType);
  const text = await textIn(received, mediaType, settings.limits);
  const isForm = kind !== 'json' && accepts(kind, use, settings);
  return { kind: 'text', text, form: isForm ? await readForm(incoming) : undefined };
}

function readJson({ req, res, mediaType, use, settings: { limits } }: Incoming): Awaitable<Body> {
  return after(receive(req, res, limits.bodyBytes), received => {
    if (received.kind === 'parsed') return leftBehind(received.body, { req, mediaType, use });
    return after(textIn(received, mediaType, limits), text => parseJson(text, use));
  });
}

/** What an earlier parser has left: a value, or the text of the body. */
function leftBehind(body: unknown, { req, mediaType, use }: Pick<Incoming, 'req' | 'mediaType' | 'use'>): Body {
  if (typeof body !== 'string') return { kind: 'json', value: body };
  switch (originOf(body, req, mediaType)) {
    case 'text parser':
      return parseJson(body, use);
    case 'JSON parser':
      return { kind: 'json', value: body };
    case 'unknown':
      throw originUnknown();
  }
}

function parseJson(text: string, use: BodyUse): Body {
  if (text.trim() === '') return NONE;
  try {
    return { kind: 'json', value: use.needsExactNumbers ? parseExactly(text) : (JSON.parse(text) as unknown) };
  } catch (error) {
    throw new Problem('body-malformed', describeJsonError('The body', text, error), { cause: error });
  }
}
