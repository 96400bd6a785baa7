import type { Claims } from '../../principal/principal';
import { asJson } from '../reading/json-text';
import type { Location } from '../reading/location';
import type { SourceProperty } from '../plan/source-properties';
import { readItems, readJson, readText } from '../types/read-value';
import { needsExactNumbers } from '../types/codec';
import type { ValueSource } from './value-source';

/** SPEC, "User claims": claim types in any case. */
export const claim: ValueSource = {
  source: 'claim',
  missing: 'The user does not have this claim.',
  read(input, sourceProperties, found) {
    const claims = input.settings.claims(input.req);
    if (!claims) return;
    const byType = new Map(Object.entries(claims).map(([type, value]) => [type.toLowerCase(), value]));
    const valueOf = (type: string): unknown => ownOrInherited(claims, type) ?? byType.get(type.toLowerCase());
    for (const sourceProperty of sourceProperties) {
      const value = valueOf(sourceProperty.name);
      if (value !== undefined && value !== null)
        found.put(
          sourceProperty.index,
          readClaim(asJson(value), sourceProperty, input.locationOf('claim', sourceProperty.name)),
        );
    }
  },
};

/** By its exact name, a claim can also be a getter of a user's class. */
function ownOrInherited(claims: Claims, type: string): unknown {
  return Object.hasOwn(claims, type) || !(type in Object.prototype) ? claims[type] : undefined;
}

/** Several claims of one type are an array, and an array is its elements: only one text that stands alone may hold several. */
function readClaim(value: unknown, sourceProperty: SourceProperty, location: Location): unknown {
  if (isJson(value, sourceProperty))
    return readJson(sourceProperty, sourceProperty.codec.isCollection ? [value].flat() : value, location.asJson());
  return Array.isArray(value)
    ? readItems(sourceProperty, value.map(String), location)
    : readText(sourceProperty, [String(value)], location);
}

/** Objects, and arrays of objects, are JSON already, and so is all that a schema asks for. */
function isJson(value: unknown, { codec }: SourceProperty): boolean {
  if (codec.shape === 'schema') return typeof value !== 'string';
  const values = [value].flat();
  return (
    values.some(one => typeof one === 'object' && one !== null) || (values.some(isRounded) && needsExactNumbers(codec))
  );
}

/** A number that whoever parsed the token may have rounded must not become the text that it is not. A double holds 15 digits. */
function isRounded(value: unknown): boolean {
  return typeof value === 'number' && !Number.isSafeInteger(value) && Number(value.toPrecision(15)) !== value;
}
