import type { Invalid, Location } from '../reading/location';

/** Refuses `items[].sku` and `items.sku`: what was sent must not be lost in silence. */
export function failNameless(location: Location): Invalid {
  return location.fail(
    'invalid',
    'The names that were sent below do not say which item they belong to: the first one is [0].',
  );
}
