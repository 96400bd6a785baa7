import type { Claims } from './principal';

/** Returns the `permissions` claim (a list or one text), else `scope` split at spaces (RFC 8693, section 4.2). */
export function permissionsIn(claims: Claims | undefined): Iterable<string> {
  const permissions = claimOf('permissions', claims);
  if (permissions !== undefined && permissions !== null)
    return [permissions].flat().filter(one => typeof one === 'string');
  const scope = claimOf('scope', claims);
  return typeof scope === 'string' ? separated(scope) : [];
}

/** Returns the result of the application's `permissions` function; splits a text at spaces, not into letters. */
export function asPermissions(resolved: Iterable<string> | string): Iterable<string> {
  return typeof resolved === 'string' ? separated(resolved) : resolved;
}

const separated = (text: string): string[] => text.split(' ').filter(one => one !== '');

/** Looks up a claim by its type in any case, the exact one first. */
function claimOf(type: string, claims: Claims = {}): unknown {
  return claims[type] ?? Object.entries(claims).find(([name]) => name.toLowerCase() === type)?.[1];
}
