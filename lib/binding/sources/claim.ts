import type { Place } from '../place';
import type { Slot } from '../plan';
import { readJson, readText } from '../read-slot';
import type { ValueSource } from './value-source';

/** SPEC, "User claims": claim types in any case. */
export const claim: ValueSource = {
  source: 'claim',
  missing: 'The user does not have this claim.',
  open(context) {
    const claims = context.settings.claims(context.req);
    if (!claims) return undefined;
    const byType = new Map(Object.entries(claims).map(([type, value]) => [type.toLowerCase(), value]));
    return slot => {
      const value = byType.get(slot.name.toLowerCase());
      return value === undefined || value === null ? undefined : readClaim(value, slot, context.at('claim', slot.name));
    };
  },
};

/** Several claims of one type are an array of scalars; objects, and arrays of objects, are JSON already. */
function readClaim(value: unknown, slot: Slot, place: Place): unknown {
  const values = [value].flat();
  return values.every(one => typeof one !== 'object' || one === null) ? readText(slot, values.map(String), place) : readJson(slot, value, place.asJson());
}
