import type { Place } from '../place';
import type { PropertyType } from '../types/property-type';
import type { ValueSource } from './value-source';

/** SPEC, "User claims": claim types in any case. */
export const claim: ValueSource = {
  source: 'claim',
  missing: 'The user does not have this claim.',
  open(context) {
    const claims = context.settings.claims(context.req);
    if (!claims) return undefined;
    const byType = new Map(Object.entries(claims).map(([type, value]) => [type.toLowerCase(), value]));
    return ({ name, type }) => {
      const value = byType.get(name.toLowerCase());
      return value === undefined || value === null ? undefined : readClaim(value, type, context.at('claim', name));
    };
  },
};

/** Several claims of one type are an array of scalars; objects, and arrays of objects, are JSON already. */
function readClaim(value: unknown, type: PropertyType<unknown>, place: Place): unknown {
  const values = [value].flat();
  return values.every(one => typeof one !== 'object' || one === null) ? type.fromText(values.map(String), place) : type.fromJson(value, place.asJson());
}
