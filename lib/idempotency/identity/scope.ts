import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import objectHash from 'object-hash';
import { principalOf, type Claims } from '../../principal/principal';

/**
 * Who may share a response, unless `scope` says otherwise: the caller's id (`sub`, else `id`, else `_id`), else whoever sends
 * the same Authorization header, else whoever has the same claims, else everybody. Two users never share a response.
 * @throws Error when there is a caller, and nothing to tell it from others.
 */
export function defaultScope(req: IncomingMessage): string | undefined {
  const { user } = req as { user?: unknown };
  return scopeOf(req, principalOf(req), idIn(user) ?? idOf(user, 'user'));
}

/**
 * The same for a caller that the application has found in its own way.
 * @param otherId what the caller is known by, where it has no id.
 * @throws Error as `defaultScope` does.
 */
export function scopeOf(req: IncomingMessage, principal: Claims | undefined, otherId?: string): string | undefined {
  const id = idIn(principal) ?? otherId;
  // A subject is unique for its issuer only (RFC 7519, section 4.1.2).
  if (id !== undefined) return JSON.stringify([principal?.['iss'] ?? null, id]);
  const { authorization } = req.headers;
  // A hash, so that no credential ends up in a cache key that is logged.
  if (authorization !== undefined) return `authorization:${createHash('sha256').update(authorization).digest('hex')}`;
  return principal && claimsOf(principal);
}

function idIn(caller: unknown): string | undefined {
  if (typeof caller !== 'object' || caller === null) return undefined;
  const { sub, id, _id } = caller as Claims;
  return idOf(sub, 'sub') ?? idOf(id, 'id') ?? idOf(_id, 'id');
}

/** An id is text, a number, or an object that can be written as text, as the ids of many databases are. */
function idOf(value: unknown, claim: string): string | undefined {
  if (typeof value === 'object') return value !== null && writesItself(value) ? idOf(asWritten(value), claim) : undefined;
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'bigint' ? `${claim}:${value}` : undefined;
}

function writesItself(value: object): boolean {
  const { toJSON, toString } = value as { toJSON?: unknown; toString?: unknown };
  return !Array.isArray(value) && (typeof toJSON === 'function' || (typeof toString === 'function' && toString !== Object.prototype.toString));
}

function asWritten(value: object): unknown {
  const { toJSON } = value as { toJSON?: (key: string) => unknown };
  if (typeof toJSON !== 'function') {
    const text = (value as { toString(): string }).toString();
    // A class may write all of its objects alike; what can be seen of them counts, too.
    const visible = visibleIn(value);
    return visible.length === 0 ? text : `${text} ${hashOf(Object.fromEntries(visible))}`;
  }
  const written: unknown = toJSON.call(value, '');
  return typeof written === 'object' ? JSON.stringify(written) : written;
}

const visibleIn = (value: object): [string, unknown][] => Object.entries(value).filter(([, one]) => typeof one !== 'function');

const unseen = (what: string): Error => new Error(`idempotency: nothing of the ${what} can be seen, so that callers could share responses. Pass \`scope\`.`);

const hashOf = (claims: object): string => objectHash(claims, { ignoreUnknown: true, respectType: false, replacer: (value: unknown) => (typeof value === 'object' && value !== null && writesItself(value) ? asWritten(value) : value) });

/** A caller without an id is who says the same of itself. */
function claimsOf(principal: Claims): string | undefined {
  for (const claim of ['sub', 'id', '_id']) {
    const id = principal[claim];
    // Other claims may well be the same for several callers.
    if (typeof id === 'object' && id !== null && visibleIn(id).length === 0) throw unseen(`\`${claim}\` of the caller`);
  }
  if (Object.keys(principal).length > 0) return `principal:${hashOf(principal)}`;
  const prototype: unknown = Object.getPrototypeOf(principal);
  if (prototype === Object.prototype || prototype === null) return undefined;
  throw unseen(`${principal.constructor.name} that req.auth or req.user is`);
}
