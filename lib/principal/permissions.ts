import type { Claims } from './principal';

/** The `permissions` claim (a list, or one text), else the `scope` claim split at spaces (RFC 8693, section 4.2). */
export function permissionsIn(claims: Claims | undefined): Iterable<string> {
  const { permissions, scope } = claims ?? {};
  if (permissions !== undefined && permissions !== null) return [permissions].flat().filter(one => typeof one === 'string');
  return typeof scope === 'string' ? scope.split(' ').filter(one => one !== '') : [];
}
