import type { Place } from '../place';
import type { Slot } from '../slots';
import { readJson, readText } from '../reading';
import { keepsDigits } from '../types/codec';
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

/** Several claims of one type are an array of scalars, and read like repeated values. */
function readClaim(value: unknown, slot: Slot, place: Place): unknown {
  const values = [value].flat();
  if (!isJson(value, slot)) return readText(slot, values.map(String), place);
  return readJson(slot, slot.codec.isCollection ? values : value, place.asJson());
}

/**
 * Objects, and arrays of objects, are JSON already, and so is all that a schema asks for. A number must not become the text
 * that it is not: whoever parsed the token has rounded it.
 */
function isJson(value: unknown, { codec }: Slot): boolean {
  if (codec.shape === 'schema') return typeof value !== 'string';
  const values = [value].flat();
  return values.some(one => typeof one === 'object' && one !== null) || (values.some(one => typeof one === 'number') && keepsDigits(codec));
}
