import type { IncomingMessage } from 'node:http';

/** What is known about the caller: claim types and their values. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * The caller as the usual authentication middlewares leave it: `req.auth.payload` (express-oauth2-jwt-bearer),
 * `req.auth` (express-jwt), `req.user` (passport).
 */
export function principalOf(req: IncomingMessage): Claims | undefined {
  const { auth, user } = req as { auth?: unknown; user?: unknown };
  if (isRecord(auth)) return isRecord(auth['payload']) ? auth['payload'] : auth;
  return isRecord(user) ? user : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
