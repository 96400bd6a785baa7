import { bytesOfView } from '../../basics/bytes';
import { CALLER_IDS, isSignedOut } from '../../principal/principal';

/** Properties within whose values an id is unique (`iss`: RFC 7519, section 4.1.2). */
const REALMS = [
  ...['iss', 'provider'],
  ...['tenantId', 'tenant_id', 'tenant', 'tid', 'orgId', 'org_id', 'organizationId', 'organization_id'],
];

/** One property of a caller, and its text. */
type Part = readonly [name: string, text: string];

/**
 * Returns the callers as text that is the same for the same callers only; undefined when there is no caller.
 * @throws Error when a caller cannot be told apart from others.
 */
export function textOfCallers(callers: Readonly<Record<string, unknown>>): string | undefined {
  const present: [place: string, parts: readonly Part[]][] = [];
  for (const place in callers) {
    const parts = callerParts(callers[place], place);
    if (parts.length > 0) present.push([place, parts]);
  }
  return present.length > 0 ? JSON.stringify(present) : undefined;
}

function callerParts(caller: unknown, place: string): readonly Part[] {
  if (caller === undefined || caller === null || caller === false) return [];
  // Text or a number is itself an id.
  if (typeof caller !== 'object') return [['id', idText(caller) ?? refuseCaller(caller, place)]];
  const ids = named(CALLER_IDS, caller, place);
  if (ids.length > 0) return [...ids, ...named(REALMS, caller, place)];
  return isSignedOut(caller) || saysNobody(caller) ? [] : refuseCaller(caller, place);
}

/** Returns true for `{ userId: null, sessionId: null }` or `{ payload: null }`: that no one is signed in, no more. */
const saysNobody = (caller: object): boolean =>
  [...CALLER_IDS, 'payload'].some(name => (caller as Readonly<Record<string, unknown>>)[name] === null) &&
  Object.values(caller).every(value => value === null || ['undefined', 'boolean', 'function'].includes(typeof value));

function named(names: readonly string[], caller: object, place: string): Part[] {
  const parts: Part[] = [];
  for (const name of names) {
    const value = (caller as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || value === null) continue;
    parts.push([name, idText(value) ?? refuseCaller(value, `${place}.${name}`)]);
  }
  return parts;
}

function refuseCaller(caller: unknown, place: string): never {
  // Nobody else looks at a promise here: a rejection would end the process.
  if (caller instanceof Promise) caller.catch(() => undefined);
  throw new Error(
    `idempotency: ${place} is set, but bindonce cannot read an id from it (text, a number or an object with ` +
      `toString, in one of ${CALLER_IDS.join(', ')}), so callers could share a response. Pass the \`scope\` option.`,
  );
}

/** The methods by which ids of databases convert themselves to text. */
interface Written {
  readonly toJSON?: unknown;
  readonly toString?: unknown;
}

/**
 * Returns the text of an id: of text, a finite number, a bigint, bytes, or an object that converts itself to text.
 * @returns undefined for everything else: two different ids must not have the same text.
 */
function idText(id: unknown): string | undefined {
  if (typeof id === 'string') return id === '' ? undefined : id;
  if (typeof id === 'number') return Number.isFinite(id) ? String(id) : undefined;
  if (typeof id === 'bigint') return String(id);
  return typeof id === 'object' && id !== null ? writtenBy(id) : undefined;
}

function writtenBy(id: Written): string | undefined {
  // Decoded as text, all invalid UTF-8 would become the same character.
  if (ArrayBuffer.isView(id)) return bytesOfView(id).toString('hex');
  // ['a,b'] and ['a', 'b'] convert to the same text.
  if (Array.isArray(id)) return undefined;
  const json = called(id.toJSON, id);
  if (isText(json)) return json;
  const text = typeof json === 'object' && json !== null ? undefined : called(id.toString, id);
  // Object.prototype.toString returns only the kind of an object.
  return isText(text) && !text.startsWith('[object ') ? text : undefined;
}

const called = (method: unknown, id: object): unknown =>
  typeof method === 'function' ? (method as () => unknown).call(id) : undefined;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
