import type { Claims } from './principal';

/** The `permissions` claim (a list, or one text), else the `scope` claim split at spaces (RFC 8693, section 4.2). */
export function permissionsIn(claims: Claims | undefined): Iterable<string> {
  const permissions = claimOf('permissions', claims);
  if (permissions !== undefined && permissions !== null)
    return [permissions].flat().filter(one => typeof one === 'string');
  const scope = claimOf('scope', claims);
  return typeof scope === 'string' ? separated(scope) : [];
}

/** What a resolver of the application says; text is taken for a list with spaces, not for one of letters. */
export function asPermissions(resolved: Iterable<string> | string): Iterable<string> {
  return typeof resolved === 'string' ? separated(resolved) : resolved;
}

const separated = (text: string): string[] => text.split(' ').filter(one => one !== '');

/** Claim types in any case, the exact one first. */
function claimOf(type: string, claims: Claims = {}): unknown {
  return claims[type] ?? Object.entries(claims).find(([name]) => name.toLowerCase() === type)?.[1];
}
