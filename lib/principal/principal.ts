import type { IncomingMessage } from 'node:http';

/** The claims of the caller: claim types and their values. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns the caller's claims from where the usual authentication middlewares put them: `req.auth.payload`
 * (express-oauth2-jwt-bearer), `req.auth` (express-jwt), `req.user` (passport).
 */
export function principalOf(req: IncomingMessage): Claims | undefined {
  const { auth, user } = req as { auth?: unknown; user?: unknown };
  if (!isRecord(auth)) return isRecord(user) ? user : undefined;
  // An empty `auth` identifies no one, but `user` does.
  const isEmpty = Object.keys(auth).length === 0;
  return isEmpty && isRecord(user) ? user : payloadOf(auth);
}

/**
 * Returns the payload of a verified token, as express-oauth2-jwt-bearer leaves it (payload, header and token, and
 * nothing else); returns anything else as it is. Next to other claims, `payload` is a claim itself.
 */
export function payloadOf<T>(auth: T): T | Claims {
  return isRecord(auth) && isRecord(auth['payload']) && isVerifiedToken(auth) ? auth['payload'] : auth;
}

const isVerifiedToken = (auth: Claims): boolean =>
  Object.keys(auth).every(key => ['payload', 'header', 'token'].includes(key));

/**
 * Checks the result of the application's `claims` function. Anything but an object means an anonymous caller.
 * @throws TypeError for a promise, which would otherwise count as a caller and let everyone in.
 */
export function asClaims(resolved: unknown): Claims | undefined {
  if (isRecord(resolved) && typeof resolved['then'] === 'function')
    throw new TypeError('bindRequest: `claims` returned a promise. Resolve the caller in an earlier middleware.');
  return isRecord(resolved) ? resolved : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
