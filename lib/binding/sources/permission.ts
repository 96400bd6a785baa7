import type { ValueSource } from './value-source';

/**
 * SPEC, "Permissions": true when the caller has the permission, its name compared exactly. No other source binds to such a
 * property, so nothing that a client sends can set it.
 */
export const permission: ValueSource = {
  source: 'permission',
  missing: 'The user does not have this permission.',
  read(input, sourceProperties, found) {
    const held = new Set(input.settings.permissions(input.req));
    for (const { index, name, required } of sourceProperties)
      found.put(
        index,
        held.has(name) || (required ? input.locationOf('permission', name).failMissing(permission.missing) : false),
      );
  },
};
