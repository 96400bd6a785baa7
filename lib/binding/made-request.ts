import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { serialize } from 'cookie';
import { stringify } from 'lossless-json';
import type { Claims } from '../principal/principal';

type Scalar = string | number | bigint | boolean;

/** Values by name; several values of one name are a list. */
export type SentValues = Readonly<Record<string, Scalar | readonly Scalar[]>>;

/** What a dto is bound from where there is no request: the message of a queue, the values of a test. */
export interface SentParts {
  /** A JSON body, or with `plainText()` a text: text or bytes as they are sent, or any other value that JSON can hold. */
  readonly body?: unknown;
  /** The fields of a form, in place of a body. */
  readonly form?: SentValues;
  /** Parameters of the route, decoded; of a wildcard, its segments. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
  /** Query parameters, or the query as it stands in a URL. */
  readonly query?: SentValues | string;
  /** Request headers. */
  readonly headers?: SentValues;
  readonly cookies?: Readonly<Record<string, string>>;
  /** The claims of the caller. Default: nobody calls. */
  readonly claims?: Claims;
  /** The permissions of the caller. Default: those among the claims. */
  readonly permissions?: Iterable<string>;
}

/** A request that never came over a connection, so that it is read by what reads all requests. */
export class MadeRequest extends IncomingMessage {
  readonly params: SentParts['params'] & object;

  constructor(readonly sent: SentParts) {
    super(new Socket());
    const { params = {}, query = {} } = sent;
    const [type, body] = bodyOf(sent);
    this.params = params;
    this.method = 'POST';
    this.url = `/?${typeof query === 'string' ? query.replace(/^\?/, '') : encoded(query)}`;
    const lines = headersOf(sent, type, body?.length);
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

/** The lines of each header, by its name in lower case. */
function headersOf(
  { headers = {}, cookies = {} }: SentParts,
  type: string | undefined,
  length: number | undefined,
): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  const add = (name: string, value: string): unknown =>
    lines.set(name.toLowerCase(), [...(lines.get(name.toLowerCase()) ?? []), value]);
  for (const [name, value] of pairsOf(headers)) add(name, value);
  for (const [name, value] of Object.entries(cookies)) add('cookie', serialize(name, value));
  if (type !== undefined && !lines.has('content-type')) add('content-type', type);
  lines.delete('transfer-encoding');
  return lines.set('content-length', [String(length ?? 0)]);
}

/** @throws TypeError for a body and a form, of which one would not count, and for what JSON cannot hold. */
function bodyOf({ body, form }: SentParts): [type?: string, bytes?: Buffer] {
  if (body !== undefined && form !== undefined)
    throw new TypeError('bind: give either body or form; a request has one body');
  if (form !== undefined) return ['application/x-www-form-urlencoded', Buffer.from(encoded(form))];
  if (body === undefined) return [];
  if (typeof body === 'string') return ['application/json', Buffer.from(body)];
  if (body instanceof Uint8Array) return ['application/json', Buffer.from(body)];
  const text = stringify(body);
  if (text === undefined) throw new TypeError(`bind: the body is a ${typeof body}, which JSON cannot hold`);
  return ['application/json', Buffer.from(text)];
}

const encoded = (values: SentValues): string => new URLSearchParams(pairsOf(values)).toString();

function pairsOf(values: SentValues): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  );
}
