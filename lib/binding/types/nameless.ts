import type { Invalid, Place } from '../reading/place';

/** Refuses `items[].sku` and `items.sku`: what was sent must not be lost in silence. */
export function failNameless(place: Place): Invalid {
  return place.fail(
    'invalid',
    'The names that were sent below do not say which item they belong to: the first one is [0].',
  );
}
