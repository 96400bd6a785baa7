import { ignoreRejection, isPromise } from '../basics/awaitable';
import type { Claims } from './principal';

/** Returns the `permissions` claim (a list or one text), else `scope` split at spaces (RFC 8693, section 4.2). */
export function permissionsIn(claims: Claims | undefined): Iterable<string> {
  const permissions = claimOf('permissions', claims);
  if (permissions !== undefined && permissions !== null)
    return [permissions].flat().filter(one => typeof one === 'string');
  const scope = claimOf('scope', claims);
  return typeof scope === 'string' ? separated(scope) : [];
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
