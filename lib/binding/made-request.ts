import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { serialize } from 'cookie';
import { exactText } from './types/exact-text';
import { bytesIn } from '../basics/bytes';
import type { Claims } from '../principal/principal';
import { checkReadable, encoded, opaqueClassOf, pairsOf, type SentValues } from './sent-values';

/** The parts of a request that a dto is bound from: the message of a queue, or the values of a test. */
export interface SentParts {
  /** The JSON body, or with `plainText()` the text: text or bytes as sent, or any other value that JSON can hold. */
  readonly body?: unknown;
  /** The fields of a form, by name or as pairs, instead of a body. */
  readonly form?: SentValues;
  /** Route parameters, decoded; for a wildcard, its segments. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
  /** Query parameters, by name or as pairs; or a query string. */
  readonly query?: SentValues | string;
  /** Request headers, by name or as pairs. */
  readonly headers?: SentValues;
  /** Cookies, by name. */
  readonly cookies?: Readonly<Record<string, string>>;
  /** The claims of the caller. Default: an anonymous caller. */
  readonly claims?: Claims;
  /** The permissions of the caller. Default: those in the claims. */
  readonly permissions?: Iterable<string>;
}

/** A request without a connection, which is read like all others. */
export class MadeRequest extends IncomingMessage {
  readonly params: SentParts['params'] & object;

  constructor(readonly sent: SentParts) {
    super(new Socket());
    const { params = {}, query = {} } = sent;
    checkReadable(params, 'params');
    const [type, body] = bodyOf(sent);
    this.params = params;
    this.method = 'POST';
    this.url = `/?${typeof query === 'string' ? query.replace(/^\?/, '') : encoded(query, 'query')}`;
    const lines = headerLinesOf(sent, type, body?.length);
    this.rawHeaders = [...lines].flatMap(([name, values]) => values.flatMap(value => [name, value]));
    this.headersDistinct = Object.fromEntries(lines);
    this.headers = Object.fromEntries(
      [...lines].map(([name, values]) => [name, values.join(name === 'cookie' ? '; ' : ', ')]),
    );
    if (body !== undefined) this.push(body);
    this.push(null);
    this.complete = true;
  }
}

/** Returns the values of each header, by its name in lower case. */
function headerLinesOf(
  { headers = {}, cookies = {} }: SentParts,
  type: string | undefined,
  length: number | undefined,
): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  const add = (name: string, value: string): unknown =>
    lines.set(name.toLowerCase(), [...(lines.get(name.toLowerCase()) ?? []), value]);
  for (const [name, value] of pairsOf(headers, 'headers')) add(name, value);
  for (const [name, value] of pairsOf(cookies, 'cookies')) add('cookie', serialize(name, value));
  if (type !== undefined && !lines.has('content-type')) add('content-type', type);
  lines.delete('transfer-encoding');
  return lines.set('content-length', [String(length ?? 0)]);
}

/**
 * Returns the content type and bytes of the body.
 * @throws TypeError for both a body and a form, and for a value that JSON cannot hold.
 */
function bodyOf({ body, form }: SentParts): [type?: string, bytes?: Buffer] {
  if (body !== undefined && form !== undefined)
    throw new TypeError('bind: give either body or form; a request has one body');
  if (form !== undefined) return ['application/x-www-form-urlencoded', Buffer.from(encoded(form, 'form'))];
  if (body === undefined) return [];
  if (typeof body === 'string') return ['application/json', Buffer.from(body)];
  const bytes = bytesIn(body);
  if (bytes) return ['application/json', Buffer.from(bytes)];
  const text = exactText(body, undefined, checkJson);
  if (text === undefined) throw notJson(`is a ${typeof body}`);
  return ['application/json', Buffer.from(text)];
}

/** Passes a value on if JSON can hold it. @throws TypeError for an object of which JSON would hold nothing. */
function checkJson(name: string, value: unknown): unknown {
  const className = isWritten(value) ? undefined : opaqueClassOf(value);
  if (className === undefined) return value;
  throw notJson(`${name === '' ? 'is' : `has, as ${JSON.stringify(name)},`} an instance of ${className}`);
}

/** Returns true for an object whose class writes it. */
const isWritten = (value: unknown): boolean =>
  typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === 'function';

function notJson(what: string): TypeError {
  const bytes = what.endsWith(' Blob') ? 'bytes (await blob.arrayBuffer())' : 'bytes';
  return new TypeError(`bind: the body ${what}, which JSON cannot hold; pass text, ${bytes}, or a value of JSON`);
}
