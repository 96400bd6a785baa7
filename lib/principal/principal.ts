import type { IncomingMessage } from 'node:http';
import { ignoreRejection, isPromise, isThenable } from '../basics/awaitable';

/** The claims of the caller: claim types and their values. */
export type Claims = Readonly<Record<string, unknown>>;

/** Names of the properties that identify a caller. */
export const CALLER_IDS = ['sub', 'userId', 'uid', 'id', '_id'];

/** A request as the usual authentication middlewares leave it. */
interface Authenticated {
  readonly auth?: unknown;
  readonly user?: unknown;
}

/**
 * Returns the caller's claims from where the usual authentication middlewares put them: `req.auth.payload`
 * (express-oauth2-jwt-bearer), `req.auth` (express-jwt), `req.auth()` (Clerk), `req.user` (passport).
 * @throws TypeError for a promise, whose caller is not known yet, and what a function in `req.auth` throws.
 */
export function principalOf(req: IncomingMessage): Claims | undefined {
  const { auth: left, user } = req as Authenticated;
  const auth = authOf(req);
  refusePromise(auth, '`req.auth` is a promise, or returns one');
  // A function returns an object for a caller that is signed out, too.
  if (isCaller(auth) && (typeof left !== 'function' || hasId(auth))) return auth;
  return isCaller(user) ? user : undefined;
}

/**
 * Returns what `req.auth` states about the caller: a function is called, and of a verified token, the payload counts.
 * Not everything that it returns is a caller.
 */
export function authOf(req: IncomingMessage): unknown {
  const { auth } = req as Authenticated;
  return payloadOf(typeof auth === 'function' ? (Reflect.apply(auth, req, []) as unknown) : auth);
}

/** Returns true for an object that says that its caller is not authenticated. */
export const isSignedOut = (caller: { readonly isAuthenticated?: unknown }): boolean =>
  caller.isAuthenticated === false;

const hasId = (caller: Claims): boolean => CALLER_IDS.some(name => (caller[name] ?? undefined) !== undefined);

/**
 * Returns true for what identifies someone. Earlier versions of Clerk leave `userId: null` when no one is signed in,
 * and an empty object says nothing.
 */
function isCaller(value: unknown): value is Claims {
  if (!isRecord(value) || isSignedOut(value)) return false;
  return hasId(value) || (Object.keys(value).length > 0 && !CALLER_IDS.some(name => name in value));
}

/**
 * Returns the payload of a verified token, as express-oauth2-jwt-bearer leaves it (payload, header and token, and
 * nothing else); returns anything else as it is. Next to other claims, `payload` is a claim itself.
 */
function payloadOf(auth: unknown): unknown {
  const isToken = isRecord(auth) && Object.keys(auth).every(key => ['payload', 'header', 'token'].includes(key));
  return isToken && 'payload' in auth ? auth['payload'] : auth;
}

/**
 * Checks the result of the application's `claims` function. Anything but an object means an anonymous caller.
 * @throws TypeError for a promise, which would otherwise count as a caller and let everyone in.
 */
export function asClaims(resolved: unknown): Claims | undefined {
  refusePromise(resolved, '`claims` returned a promise');
  return isRecord(resolved) ? resolved : undefined;
}

function refusePromise(value: unknown, what: string): void {
  if (!isThenable(value)) return;
  ignoreRejection(value);
  throw new TypeError(`bindRequest: ${what}. Resolve the caller in an earlier middleware.`);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the `permissions` claim (a list or one text), else `scope`: a list, or text that is split at spaces (RFC
 * 8693, section 4.2).
 */
export function permissionsIn(claims: Claims | undefined): Iterable<string> {
  const permissions = claimOf('permissions', claims) ?? undefined;
  const scope = claimOf('scope', claims);
  if (permissions === undefined && typeof scope === 'string') return separated(scope);
  return [permissions ?? scope].flat().filter(one => typeof one === 'string');
}

/**
 * Checks the result of the application's `permissions` function; splits a text at spaces, not into letters.
 * @throws TypeError for anything that is not a list of names.
 */
export function asPermissions(resolved: unknown): Iterable<string> {
  if (typeof resolved === 'string') return separated(resolved);
  if (resolved === undefined || resolved === null) return [];
  if (typeof resolved === 'object' && Symbol.iterator in resolved) return resolved as Iterable<string>;
  ignoreRejection(resolved);
  const returned = isPromise(resolved) ? 'a promise. Look them up in an earlier middleware' : typeof resolved;
  throw new TypeError(
    `bindRequest: \`permissions\` must return the names of permissions, for example an array, not ${returned}.`,
  );
}

const separated = (text: string): string[] => text.split(' ').filter(one => one !== '');

/** Looks up a claim by its type in any case, the exact one first. */
function claimOf(type: string, claims: Claims = {}): unknown {
  return claims[type] ?? Object.entries(claims).find(([name]) => name.toLowerCase() === type)?.[1];
}
