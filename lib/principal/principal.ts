import type { IncomingMessage } from 'node:http';

/** What is known about the caller: claim types and their values. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * The caller as the usual authentication middlewares leave it: `req.auth.payload` (express-oauth2-jwt-bearer),
 * `req.auth` (express-jwt), `req.user` (passport).
 */
export function principalOf(req: IncomingMessage): Claims | undefined {
  const { auth, user } = req as { auth?: unknown; user?: unknown };
  // An empty `auth` says less of the caller than a user does.
  if (isRecord(auth) && !(isRecord(user) && Object.keys(auth).length === 0)) return payloadOf(auth);
  return isRecord(user) ? user : undefined;
}

/**
 * The payload of a verified token, as express-oauth2-jwt-bearer leaves it (payload, header and token, and nothing else);
 * anything else as it is. Next to other claims, `payload` is a claim.
 */
export function payloadOf<T>(auth: T): T | Claims {
  return isRecord(auth) && isRecord(auth['payload']) && isVerifiedToken(auth) ? auth['payload'] : auth;
}

const isVerifiedToken = (auth: Claims): boolean =>
  Object.keys(auth).every(key => ['payload', 'header', 'token'].includes(key));

/**
 * What a resolver of the application says of the caller. Whatever is no object is nobody.
 * @throws TypeError for a promise: it would let everybody in.
 */
export function asClaims(resolved: unknown): Claims | undefined {
  if (isRecord(resolved) && typeof resolved['then'] === 'function')
    throw new TypeError('bindRequest: claims must answer at once; resolve the caller in a middleware before.');
  return isRecord(resolved) ? resolved : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
