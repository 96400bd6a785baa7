import { sha256 } from './digest.js';
import { shown, type ResolvedOptions } from './options.js';

/** Options of `fetch`, and the name of the operation. */
export interface IdempotentRequestInit extends RequestInit {
  /**
   * Name of the operation, for example `order of cart 42`: calls with this name, also after a reload, send the same key
   * until the outcome is known. Default: calls with equal requests are one operation.
   */
  readonly operation?: string;
  /** The idempotency key, if the application keeps one itself. Nothing is stored then. */
  readonly key?: string;
}

/** A request that can be sent any number of times, always the same. */
export interface PreparedRequest {
  readonly url: string;
  /** Without the key and the signal. */
  readonly init: RequestInit & { readonly headers: Headers };
  /** The key of the application, or what names the operation. */
  readonly identity: { readonly key: string } | Operation;
}

/** An operation. The digest hashes method, URL, the chosen headers, media type and body of its request. */
export interface Operation {
  readonly name: string | undefined;
  readonly digest: string;
}

/**
 * Copies a request, so that every attempt sends the same. All of it is read before the first `await`: the caller may
 * change its objects as soon as the call has returned a promise.
 * @throws TypeError for a request that `fetch` refuses, that has a key already, or whose body cannot be sent twice.
 */
export async function prepare(
  url: string | URL,
  given: IdempotentRequestInit,
  { headerName, additionalHeaders }: ResolvedOptions,
): Promise<PreparedRequest> {
  if ((typeof url !== 'string' && !(url instanceof URL)) || typeof given !== 'object' || kindOf(given) === 'Request')
    throw new TypeError(
      'idempotentFetch: it takes a URL, as a string or a URL, and an object with the rest. Instead of a Request, ' +
        'pass the parts of a Request one by one.',
    );
  const { operation, key, ...init } = given;
  checkName('operation', operation);
  checkName('key', key);
  const headers = new Headers(init.headers);
  if (headers.has(headerName))
    throw new TypeError(`idempotentFetch: it sets ${headerName} itself; pass the key of your own as \`key\`.`);
  const form = isForm(init.body) ? copyOf(init.body) : undefined;
  if (!form) checkRepeatable(init.body);
  const own = { ...init, headers, signal: null, ...(form && { body: form }) };
  // Throws now what fetch would reject with, as it does when the network fails; and encodes the body once, since a form
  // gets a new boundary each time.
  const request = new Request(url, own);
  const { method, url: href, mode } = request;
  if (mode === 'no-cors')
    throw new TypeError(
      "idempotentFetch: with mode 'no-cors', the browser sends no key and shows no answer. Use 'cors', and let the " +
        'server allow the header.',
    );
  const chosen = additionalHeaders.map(name => [name.toLowerCase(), headers.get(name)]);
  const type = request.headers.get('Content-Type');
  if (type !== null) headers.set('Content-Type', type);
  const body = (init.body ?? undefined) && (await (form ? request.blob() : request.arrayBuffer()));
  const sent = { url: href, init: { ...own, ...(body && { body }) } };
  if (key !== undefined) return { ...sent, identity: { key } };
  const content = form ? [null, await hashOfForm(form)] : [type, body && (await sha256(body as ArrayBuffer))];
  const digest = await sha256(JSON.stringify([method, href.split('#', 1)[0], chosen, ...content]));
  return { ...sent, identity: { name: operation, digest } };
}

/** @throws TypeError for a name that others would share: blank text, and what becomes text like `null`. */
export function checkName(name: 'key' | 'operation', value: unknown): void {
  if (value !== undefined && (typeof value !== 'string' || value.trim() === ''))
    throw new TypeError(`idempotentFetch: ${name} must be text that is not blank, not ${shown(value)}`);
}

/** @throws TypeError for a body that is used up when it has been sent once. */
function checkRepeatable(body: unknown): void {
  if (body === undefined || body === null) return;
  const kinds = ['String', 'URLSearchParams', 'Blob', 'File', 'ArrayBuffer'];
  if (!kinds.includes(kindOf(body)) && !ArrayBuffer.isView(body))
    throw new TypeError(
      `idempotentFetch: a body of the kind ${kindOf(body)} cannot be sent twice. ` +
        'Pass text (JSON.stringify of an object), bytes, a Blob, a FormData or URLSearchParams.',
    );
}

/** The name of a class, which objects of another frame have, too. */
const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

const isForm = (value: unknown): value is FormData => kindOf(value) === 'FormData';

/** Copies a form, also one of another frame or of a package, which `fetch` may not know. */
function copyOf(form: FormData): FormData {
  const copy = new FormData();
  form.forEach((value: string | Blob, name: string) => {
    // With a name, a file of a folder would lose its path; without, what is no Blob here would become text.
    if (typeof value === 'string' || value instanceof Blob) copy.append(name, value);
    else copy.append(name, value, (value as Partial<File>).name);
  });
  return copy;
}

/** Hashes the entries of a form, because its bytes contain a boundary that is another one each time. */
async function hashOfForm(form: FormData): Promise<readonly unknown[]> {
  const entries: Promise<unknown>[] = [];
  form.forEach((value: string | Blob, name: string) => {
    entries.push(entryOf(name, value));
  });
  return Promise.all(entries);
}

async function entryOf(name: string, value: string | Blob): Promise<unknown> {
  if (typeof value === 'string') return [name, value];
  const { name: fileName, webkitRelativePath } = value as { name?: string; webkitRelativePath?: string };
  return [name, webkitRelativePath || fileName, value.type, await sha256(await value.arrayBuffer())];
}
