/// <reference lib="dom.iterable" />
import { refuse, shown, type ResolvedOptions } from './options.js';

/** Options of `fetch`, and the name of the operation. */
export interface IdempotentRequestInit extends RequestInit {
  /**
   * Name of the operation, for example `order of cart 42`: calls with this name, also after a reload, send the same key
   * until the outcome is known. Default: calls with equal requests are one operation.
   */
  readonly operation?: string;
  /** The idempotency key, if the application keeps one itself, instead of `operation`. Nothing is stored then. */
  readonly key?: string;
}

/** What `fetch` gets, without the key and the signal. Named, since declarations for Node have no types of browsers. */
type SentInit = RequestInit & { readonly headers: Headers };

/** A request that can be sent any number of times, always the same. */
export type PreparedRequest = Awaited<ReturnType<typeof prepare>>;

/** @throws TypeError for a request that cannot be sent twice with one key. */
export function checkRequest(url: unknown, init: IdempotentRequestInit): void {
  if ((typeof url !== 'string' && !(url instanceof URL)) || typeof init !== 'object' || init instanceof Request)
    refuse(
      'it takes a URL, as a string or a URL, and an object with the rest; pass the parts of a Request one by one.',
    );
  const { operation, key, body } = init;
  checkName('operation', operation);
  checkName('key', key);
  if (operation !== undefined && key !== undefined)
    refuse('pass `operation` or `key`, not both. With a `key` of your own, nothing is stored.');
  const kinds = [FormData, URLSearchParams, Blob, ArrayBuffer];
  if (body && typeof body !== 'string' && !ArrayBuffer.isView(body) && !kinds.some(kind => body instanceof kind))
    refuse(
      `a body of the kind ${Object.prototype.toString.call(body).slice(8, -1)} cannot be sent twice. Pass text ` +
        '(JSON.stringify of an object), bytes, a Blob, a FormData or URLSearchParams.',
    );
}

/** @throws TypeError for a name that others would share: blank text, and what becomes text like `null`. */
export function checkName(name: 'key' | 'operation', value: unknown): void {
  if (value !== undefined && (typeof value !== 'string' || value.trim() === ''))
    refuse(`${name} must be text that is not blank, not ${shown(value)}`);
}

/**
 * Copies a request, so that every attempt sends the same. All of it is read before the first `await`: the caller may
 * change its objects as soon as the call has returned a promise.
 * @returns what is sent, without the key and the signal; the caller's own signal; the key, if the application keeps it;
 * the name that a key is stored under; and a hash of method, URL, the chosen headers, media type and body.
 * @throws TypeError for a request that `fetch` refuses, or that has a key already.
 */
export async function prepare(
  url: string | URL,
  { operation, key, signal, ...init }: IdempotentRequestInit,
  { headerName, additionalHeaders, prefix }: ResolvedOptions,
) {
  const headers = new Headers(init.headers);
  if (headers.has(headerName)) refuse(`it sets ${headerName} itself; pass the key of your own as \`key\`.`);
  const own = { ...init, headers, signal: null };
  // Throws now what fetch would reject with, as it does when the network fails; and encodes the body once, since a form
  // gets a new boundary each time.
  const request = new Request(url, own);
  const fields = init.body instanceof FormData ? [...init.body] : undefined;
  if (request.mode === 'no-cors')
    refuse("with mode 'no-cors', the browser sends no key and shows no answer. Use 'cors'.");
  const type = request.headers.get('Content-Type');
  if (type !== null) headers.set('Content-Type', type);
  const chosen = additionalHeaders.map(name => [name.toLowerCase(), headers.get(name)]);
  // A Blob, because `fetch` of Node 20 and 22 cannot send bytes again after a redirect.
  const body = (init.body ?? undefined) && (await request.blob());
  const sent: SentInit = { ...own, ...(body && { body }) };
  const prepared = { url: request.url, init: sent, signal, key };
  // The application keeps the key: nothing is stored.
  if (key !== undefined) return { ...prepared, name: '', digest: '' };
  // The bytes of a form contain a boundary that is another one each time.
  const content = fields
    ? [null, await Promise.all(fields.map(hashOfField))]
    : [type, body && (await sha256(await body.arrayBuffer()))];
  const digest = await sha256(JSON.stringify([request.method, request.url.split('#', 1)[0], chosen, ...content]));
  return { ...prepared, name: operation === undefined ? `${prefix}${digest}` : nameOf(operation, prefix), digest };
}

/** What the key of an operation is stored under. */
export const nameOf = (operation: string, prefix: string): string => `${prefix}operation:${operation}`;

async function hashOfField([name, value]: [string, string | File]): Promise<unknown> {
  if (typeof value === 'string') return [name, value];
  return [name, value.webkitRelativePath || value.name, value.type, await sha256(await value.arrayBuffer())];
}

/** Hashes text or bytes with SHA-256. @returns hex digits. */
async function sha256(data: string | ArrayBuffer): Promise<string> {
  const { subtle } = crypto as { readonly subtle?: typeof crypto.subtle };
  if (!subtle)
    return refuse(
      'crypto.subtle is missing, because the page was not served over https. Serve it over https (or from ' +
        'localhost), or pass a `key` with the request.',
    );
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  const hash = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return Array.from(hash, byte => byte.toString(16).padStart(2, '0')).join('');
}
