import type { Invalid, Location } from '../reading/location';

/** Refuses `items[].sku` and `items.sku`: a value must not be lost silently. */
export function failNameless(location: Location): Invalid {
  return location.fail(
    'invalid',
    'The names below do not say which item they belong to. Number the items, starting with [0].',
  );
}
