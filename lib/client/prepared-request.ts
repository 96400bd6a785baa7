import { sha256 } from './digest.js';
import type { ResolvedOptions } from './options.js';
import { isForm, type IdempotentRequestInit } from './request-init.js';

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
 * @throws TypeError for a request that `fetch` refuses or can never send, or that has a key already.
 */
export async function prepare(
  url: string | URL,
  given: IdempotentRequestInit,
  { headerName, additionalHeaders }: ResolvedOptions,
): Promise<PreparedRequest> {
  checkGlobals();
  const { operation, key, ...init } = given;
  const headers = new Headers(init.headers);
  if (headers.has(headerName))
    throw new TypeError(`idempotentFetch: it sets ${headerName} itself; pass the key of your own as \`key\`.`);
  const form = isForm(init.body) ? copyOf(init.body) : undefined;
  const own = { ...init, headers, signal: null, ...(form && { body: form }) };
  // Throws now what fetch would reject with, as it does when the network fails; and encodes the body once, since a form
  // gets a new boundary each time.
  const request = new Request(url, own);
  const { method, url: href, mode } = request;
  checkScheme(href);
  if (mode === 'no-cors')
    throw new TypeError(
      "idempotentFetch: with mode 'no-cors', the browser sends no key and shows no answer. Use 'cors', and let the " +
        'server allow the header.',
    );
  const chosen = additionalHeaders.map(name => [name.toLowerCase(), headers.get(name)]);
  const type = request.headers.get('Content-Type');
  if (type !== null) headers.set('Content-Type', type);
  // A Blob, because `fetch` of Node 20 and 22 cannot send bytes again after a redirect.
  const body = (init.body ?? undefined) && (await request.blob());
  const sent = { url: href, init: { ...own, ...(body && { body }) } };
  if (key !== undefined) return { ...sent, identity: { key } };
  const content = form ? [null, await hashOfForm(form)] : [type, body && (await sha256(await body.arrayBuffer()))];
  const digest = await sha256(JSON.stringify([method, href.split('#', 1)[0], chosen, ...content]));
  return { ...sent, identity: { name: operation, digest } };
}

/**
 * A page of a scheme of its own (Capacitor, Electron) may answer its own URLs.
 * @throws TypeError for a URL that `fetch` can never send to: each attempt would look like a broken connection.
 */
function checkScheme(href: string): void {
  const { protocol } = new URL(href);
  const { location } = globalThis as { readonly location?: { readonly protocol: string } };
  if (!['http:', 'https:', location?.protocol].includes(protocol))
    throw new TypeError(
      `idempotentFetch: it sends to http: and https:, not to "${protocol}". Begin the URL with http:// or https://.`,
    );
}

/** @throws TypeError that names the globals that are missing: tests of pages run where only browsers have them. */
function checkGlobals(): void {
  const missing = ['Request', 'Headers'].filter(name => !(name in globalThis));
  if (missing.length > 0)
    throw new TypeError(
      `idempotentFetch: there is no global ${missing.join(', and no ')}. ` +
        'It prepares each request, also for a `fetch` of your own. jest-environment-jsdom hides it from tests: use ' +
        'jest-fixed-jsdom, or another environment.',
    );
}

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
