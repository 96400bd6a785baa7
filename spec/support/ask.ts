import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import supertest, { type Response } from 'supertest';
import type { ProblemBody } from '../../lib';
import type { WireRequest, WireResponse } from './listen';
import { multipart as encode, partOf } from './multipart';

/** One request, in the words of the sources. At most one of `json`, `form`, `multipart` and `body` makes its body. */
export interface Sent {
  readonly method?: string;
  /** Path and query. Default `/`. */
  readonly path?: string;
  /** Idempotency key. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON; text is sent as it is. */
  readonly json?: unknown;
  /** Sent urlencoded; text is sent as it is. */
  readonly form?: string | readonly (readonly [name: string, value: string])[];
  /** Sent as multipart/form-data; text is names and values, as for `pairs()`. */
  readonly multipart?: string | readonly (readonly [name: string, value: string | File])[];
  readonly body?: string | Buffer;
}

/**
 * Sends one request to an application, which is served for it alone, or to the server at a URL. An application with
 * `idempotency()` on the default store has to be served by `serve()`: a loopback host takes no part in keys, so that
 * the specs of one process would share responses.
 */
export async function ask(server: RequestListener | string, sent: Sent = {}): Promise<Response> {
  const { method = 'POST', headers = {}, body } = await toWire(sent);
  const test = supertest(server)[method.toLowerCase() as 'post'](sent.path ?? '/');
  test.set(headers as Record<string, string>).unset('Accept-Encoding');
  // `send()` would add headers, and encode the body by its type.
  if (body !== undefined) test.write(body);
  return test;
}

/** Returns the problem of a response that is one. */
export function problemIn({
  headers,
  text,
}: Pick<WireResponse | Response, 'headers' | 'text'>): ProblemBody | undefined {
  // A response to HEAD has no text.
  return text && headers['content-type']?.startsWith('application/problem+json')
    ? (JSON.parse(text) as ProblemBody)
    : undefined;
}

/** The names and values of `a=1&b=2`, in which nothing is escaped. */
export const pairs = (text: string): (readonly [name: string, value: string])[] =>
  text
    .split('&')
    .filter(Boolean)
    .map(part => {
      const [name = '', value = ''] = part.split(/=(.*)/s);
      return [name, value];
    });

/** Encodes a request as it goes over the wire. */
export async function toWire({
  method = 'POST',
  key,
  headers: given = {},
  json,
  form,
  multipart,
  body,
}: Sent): Promise<WireRequest> {
  const headers = { ...(key !== undefined && { 'Idempotency-Key': key }), ...given };
  const withBody = (content: string | Buffer, type?: string): WireRequest => ({
    method,
    body: content,
    headers: {
      ...(type !== undefined && { 'Content-Type': type }),
      ...(!('Transfer-Encoding' in headers) && { 'Content-Length': String(Buffer.byteLength(content)) }),
      ...headers,
    },
  });
  if (json !== undefined) return withBody(typeof json === 'string' ? json : JSON.stringify(json), 'application/json');
  if (form !== undefined)
    return withBody(
      typeof form === 'string' ? form : new URLSearchParams(form.map(([name, value]) => [name, value])).toString(),
      'application/x-www-form-urlencoded',
    );
  if (multipart !== undefined) {
    const parts = typeof multipart === 'string' ? pairs(multipart) : multipart;
    const encoded = encode(await Promise.all(parts.map(partOf)), `----${randomUUID()}`);
    return withBody(encoded.body, encoded.headers['Content-Type']);
  }
  return body === undefined ? { method, headers } : withBody(body);
}
