import { sha256 } from './digest.js';
import { shown, type ResolvedOptions } from './options.js';

/** What `fetch` takes, and what names the operation. */
export interface IdempotentRequestInit extends RequestInit {
  /**
   * What is being done, for example `order of cart 42`: calls with this name, also after a reload, send the same key
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
  /** Hashes method, URL, the chosen headers, media type and body. */
  digest(): Promise<string>;
}

type Content = { readonly form: FormData } | { readonly bytes: ArrayBuffer; readonly type: string | null } | undefined;

/**
 * Copies a request, so that every attempt sends the same, whatever the caller changes meanwhile.
 * @throws TypeError for a request that `fetch` refuses, that has a key already, or whose body cannot be sent twice.
 */
export async function prepare(
  url: string | URL,
  init: IdempotentRequestInit,
  { headerName, additionalHeaders }: ResolvedOptions,
): Promise<PreparedRequest> {
  for (const name of ['key', 'operation'] as const) checkName(name, init[name]);
  const headers = new Headers(init.headers);
  if (headers.has(headerName))
    throw new TypeError(`idempotentFetch: it sets ${headerName} itself; pass the key of your own as \`key\`.`);
  if (typeof url !== 'string' && !(url instanceof URL))
    throw new TypeError('idempotentFetch: the URL must be a string or a URL; pass the parts of a Request one by one.');
  const content = await contentOf(init.body);
  if (content && 'bytes' in content && content.type !== null && !headers.has('Content-Type'))
    headers.set('Content-Type', content.type);
  const body = content && ('form' in content ? content.form : content.bytes);
  const sent = { ...init, headers, signal: null, ...(body && { body }) };
  // Throws now what fetch would reject with, as it does when the network fails.
  const { method, url: href, mode } = new Request(url, sent);
  if (mode === 'no-cors')
    throw new TypeError(
      "idempotentFetch: with mode 'no-cors', the browser sends no key and shows no answer. Use 'cors', and let the " +
        'server allow the header.',
    );
  const digest = async (): Promise<string> => {
    const chosen = additionalHeaders.map(name => [name.toLowerCase(), headers.get(name)]);
    return sha256(
      JSON.stringify([method, href.split('#', 1)[0], chosen, headers.get('Content-Type'), await hashOf(content)]),
    );
  };
  return { url: href, init: sent, digest };
}

/** @throws TypeError for a name that others would share: blank text, and what becomes text like `null`. */
export function checkName(name: 'key' | 'operation', value: unknown): void {
  if (value !== undefined && (typeof value !== 'string' || value.trim() === ''))
    throw new TypeError(`idempotentFetch: ${name} must be text that is not blank, not ${shown(value)}`);
}

async function contentOf(body: unknown): Promise<Content> {
  if (body === undefined || body === null) return undefined;
  if (isForm(body)) {
    const form = new FormData();
    body.forEach((value: string | Blob, name: string) => {
      form.append(name, value);
    });
    return { form };
  }
  if (!['String', 'URLSearchParams', 'Blob', 'File', 'ArrayBuffer'].includes(kindOf(body)) && !ArrayBuffer.isView(body))
    throw new TypeError(
      `idempotentFetch: a body of the kind ${kindOf(body)} cannot be sent twice. Pass text (JSON.stringify of an object), ` +
        'bytes, a Blob, a FormData or URLSearchParams.',
    );
  const copy = new Response(body as string);
  return { bytes: await copy.arrayBuffer(), type: copy.headers.get('Content-Type') };
}

/** The name of a class, which objects of another frame have, too. */
const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

const isForm = (value: unknown): value is FormData => kindOf(value) === 'FormData';

/** A form is hashed by its entries: its boundary is another one each time. */
async function hashOf(content: Content): Promise<unknown> {
  if (!content) return null;
  if ('bytes' in content) return sha256(content.bytes);
  const entries: Promise<unknown>[] = [];
  content.form.forEach((value: string | Blob, name: string) => {
    entries.push(entryOf(name, value));
  });
  return Promise.all(entries);
}

async function entryOf(name: string, value: string | Blob): Promise<unknown> {
  if (typeof value === 'string') return [name, value];
  return [name, (value as Partial<File>).name, value.type, await sha256(await value.arrayBuffer())];
}
