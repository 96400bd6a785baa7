import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { serialize } from 'cookie';
import { stringify } from 'lossless-json';
import type { Claims } from '../principal/principal';

type Scalar = string | number | bigint | boolean;

/** Values by name; several values of one name are an array. */
export type SentValues = Readonly<Record<string, Scalar | readonly Scalar[]>>;

/** The parts of a request that a dto is bound from: the message of a queue, or the values of a test. */
export interface SentParts {
  /** The JSON body, or with `plainText()` the text: text or bytes as sent, or any other value that JSON can hold. */
  readonly body?: unknown;
  /** The fields of a form, instead of a body. */
  readonly form?: SentValues;
  /** Route parameters, decoded; for a wildcard, its segments. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
  /** Query parameters, or a query string. */
  readonly query?: SentValues | string;
  /** Request headers. */
  readonly headers?: SentValues;
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
    const [type, body] = bodyOf(sent);
    this.params = params;
    this.method = 'POST';
    this.url = `/?${typeof query === 'string' ? query.replace(/^\?/, '') : encoded(query, 'query')}`;
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

/** Returns the values of each header, by its name in lower case. */
function headersOf(
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
  if (body instanceof Uint8Array) return ['application/json', Buffer.from(body)];
  const text = stringify(body);
  if (text === undefined)
    throw new TypeError(
      `bind: the body is a ${typeof body}, which JSON cannot hold; pass text, bytes, or a value of JSON`,
    );
  return ['application/json', Buffer.from(text)];
}

const encoded = (values: SentValues, part: string): string =>
  new URLSearchParams(pairsOf(asItems(values), part)).toString();

/**
 * Gives brackets to the name of an array of one text that would otherwise be read as several items, or as JSON. Others
 * have none, because an array of one may also be the value of a property that is no collection.
 */
const asItems = (values: SentValues): SentValues =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const [only, second] = Array.isArray(value) ? (value as readonly Scalar[]) : [];
      const isSplit = second === undefined && /,|^\s*[[{]/.test(String(only)) && !name.endsWith(']');
      return [isSplit ? `${name}[]` : name, value];
    }),
  );

/** @throws TypeError for null and objects, which none of these parts can hold; undefined is left out. */
function pairsOf(values: SentValues, part: string): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter((one: Scalar | undefined) => one !== undefined)
      .map((one: Scalar | object | null): [string, string] => {
        if (typeof one !== 'object') return [name, String(one)];
        const given = one === null ? 'null' : 'an object';
        throw new TypeError(
          `bind: ${part}.${name} is ${given}; give text, a number, a boolean, or an array of them, or leave it out`,
        );
      }),
  );
}
