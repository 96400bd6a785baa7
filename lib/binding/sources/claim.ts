import type { Place } from '../place';
import type { Slot } from '../slots';
import { readJson, readText } from '../reading';
import type { ValueSource } from './value-source';

/** SPEC, "User claims": claim types in any case. */
export const claim: ValueSource = {
  source: 'claim',
  missing: 'The user does not have this claim.',
  open(input) {
    const claims = input.settings.claims(input.req);
    if (!claims) return undefined;
    const byType = new Map(Object.entries(claims).map(([type, value]) => [type.toLowerCase(), value]));
    return slot => {
      const value = byType.get(slot.name.toLowerCase());
      return value === undefined || value === null ? undefined : readClaim(value, slot, input.placeOf('claim', slot.name));
    };
  },
};

/** Several claims of one type are an array of scalars; objects, and arrays of objects, are JSON already, and so is all that a schema asks for. */
function readClaim(value: unknown, slot: Slot, place: Place): unknown {
  const values = [value].flat();
  const isJson = slot.codec.shape === 'schema' ? typeof value !== 'string' : values.some(one => typeof one === 'object' && one !== null);
  return isJson ? readJson(slot, value, place.asJson()) : readText(slot, values.map(String), place);
}
