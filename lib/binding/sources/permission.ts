import type { ValueSource } from './request-input';

/**
 * The permissions of the caller: true if the caller has the permission of that exact name. No other source binds to
 * such a property, so nothing that a client sends can set it.
 */
export const permission: ValueSource = {
  name: 'permission',
  missing: 'The caller does not have this permission.',
  read(input, sourceProperties, found) {
    const held = new Set(input.options.permissions(input.req));
    for (const { index, name, required } of sourceProperties)
      found.put(
        index,
        held.has(name) || (required ? input.locationOf('permission', name).failMissing(permission.missing) : false),
      );
  },
};
