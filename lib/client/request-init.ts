import { isNear, isOption, shown } from './options.js';

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

/** @throws TypeError for a request that `fetch` would refuse, or that cannot be sent twice with one key. */
export function checkRequest(url: unknown, init: IdempotentRequestInit): void {
  if ((typeof url !== 'string' && !(url instanceof URL)) || typeof init !== 'object' || classNameOf(init) === 'Request')
    throw new TypeError(
      'idempotentFetch: it takes a URL, as a string or a URL, and an object with the rest. Instead of a Request, ' +
        'pass the parts of a Request one by one.',
    );
  checkMembers(init);
  const { operation, key, body, signal } = init;
  checkName('operation', operation);
  checkKey(key);
  if (operation !== undefined && key !== undefined)
    throw new TypeError(
      'idempotentFetch: pass `operation` or `key`, not both. With a `key` of your own, nothing is stored, so that an ' +
        'operation does not find it again.',
    );
  checkRepeatable(body);
  checkSignal(signal);
}

/**
 * Others than ours are left to `fetch`, because runtimes have members of their own.
 * @throws TypeError for one that is almost ours: without its operation, a request would be another one after a reload.
 * And for an option of the client, which would have no effect here.
 */
function checkMembers(init: object): void {
  for (const name of Object.keys(init)) {
    if (isOption(name))
      throw new TypeError(
        `idempotentFetch: ${name} is an option of the client, not of one request; pass idempotentFetch({ ${name}: … })`,
      );
    const meant = nearestOf(name);
    if (meant !== undefined && meant !== name)
      throw new TypeError(`idempotentFetch: there is no option "${name}"; did you mean "${meant}"?`);
  }
}

function nearestOf(name: string): 'key' | 'operation' | undefined {
  if (isNear(name.toLowerCase(), 'operation')) return 'operation';
  // So short a name is near to many.
  return isNear(name.toLowerCase(), 'key', 1) || /^idempotency[-_]?key$/i.test(name) ? 'key' : undefined;
}

/** @throws TypeError for a name that others would share: blank text, and what becomes text like `null`. */
export function checkName(name: 'key' | 'operation', value: unknown): void {
  if (value !== undefined && (typeof value !== 'string' || value.trim() === ''))
    throw new TypeError(`idempotentFetch: ${name} must be text that is not blank, not ${shown(value)}`);
}

/** @throws TypeError for a key with characters that no header can carry (RFC 9110, section 5.5). */
function checkKey(key: string | undefined): void {
  checkName('key', key);
  if (key !== undefined && !/^[\t\x20-\x7e\x80-\xff]*$/.test(key))
    throw new TypeError(
      `idempotentFetch: key must be text that a header can carry, such as letters, digits and "-", not ${shown(key)}`,
    );
}

/** @throws TypeError for a body that is used up when it has been sent once. */
function checkRepeatable(body: unknown): void {
  if (body === undefined || body === null || ArrayBuffer.isView(body)) return;
  const kind = classNameOf(body);
  if (isForm(body) && typeof (body as Partial<FormData>).forEach !== 'function')
    throw new TypeError(
      'idempotentFetch: the body is a FormData of a package without forEach(), which cannot be sent twice. ' +
        'Pass its fields in a FormData of the browser or of Node.',
    );
  const kinds = ['String', 'FormData', 'URLSearchParams', 'Blob', 'File', 'ArrayBuffer'];
  if (!kinds.includes(kind))
    throw new TypeError(
      `idempotentFetch: a body of the kind ${kind} cannot be sent twice. ` +
        'Pass text (JSON.stringify of an object), bytes, a Blob, a FormData or URLSearchParams.',
    );
}

/** @throws TypeError for a signal that cannot be listened to, such as the controller itself. */
function checkSignal(signal: Partial<AbortSignal> | null | undefined): void {
  if (signal === undefined || signal === null) return;
  if (typeof signal.throwIfAborted !== 'function' || typeof signal.addEventListener !== 'function')
    throw new TypeError(
      `idempotentFetch: signal must be an AbortSignal, not ${shown(signal)}. Of a controller, pass controller.signal.`,
    );
}

export const isForm = (value: unknown): value is FormData => classNameOf(value) === 'FormData';

/** Returns the name of a class, which objects of another frame have, too. */
const classNameOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);
