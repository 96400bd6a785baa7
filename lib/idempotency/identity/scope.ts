import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import objectHash from 'object-hash';
import { principalOf, type Claims } from '../../principal/principal';

/**
 * Who may share a response, unless `scope` says otherwise: the caller's id (`sub`, else `id`), else whoever sends the same
 * Authorization header, else whoever has the same claims, else everybody. Two users never share a response.
 */
export function defaultScope(req: IncomingMessage): string | undefined {
  const principal = principalOf(req);
  const id = idOf(principal, 'sub') ?? idOf(principal, 'id');
  // A subject is unique for its issuer only (RFC 7519, section 4.1.2).
  if (id !== undefined) return JSON.stringify([principal?.['iss'] ?? null, id]);
  const { authorization } = req.headers;
  // A hash, so that no credential ends up in a cache key that is logged.
  if (authorization !== undefined) return `authorization:${createHash('sha256').update(authorization).digest('hex')}`;
  return principal && `principal:${objectHash(principal, { ignoreUnknown: true, respectType: false })}`;
}

function idOf(principal: Claims | undefined, claim: 'sub' | 'id'): string | undefined {
  const value = principal?.[claim];
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'bigint' ? `${claim}:${value}` : undefined;
}
