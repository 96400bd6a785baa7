import type { Claims } from '../../principal/principal';
import { asJson } from '../reading/json-text';
import type { Location } from '../reading/location';
import type { SourceProperty } from '../plan/source-properties';
import { readOptionalJson } from '../types/read-json';
import { readItems, readText } from '../types/read-text';
import { isCollection, needsExactNumbers, notNull, takesNull } from '../types/codec';
import { isRounded } from '../types/numbers';
import type { ValueSource } from './request-input';

/** The claims of the caller; claim types are case-insensitive. */
export const claim: ValueSource = {
  name: 'claim',
  missing: 'The caller does not have this claim.',
  read(input, sourceProperties, found) {
    const claims = input.options.claims(input.req);
    if (!claims) return;
    const byType = new Map(Object.entries(claims).map(([type, value]) => [type.toLowerCase(), value]));
    const valueOf = (type: string): unknown => ownOrInherited(claims, type) ?? byType.get(type.toLowerCase());
    for (const sourceProperty of sourceProperties) {
      const { index, name, codec } = sourceProperty;
      const value = valueOf(name);
      if (value === undefined || (value === null && !takesNull(codec))) continue;
      // A value of the client counts only if the caller does not have the claim, whatever its value is read as.
      found.clear(index);
      const takesArray = isCollection(codec) || notNull(codec).kind === 'schema';
      if (Array.isArray(value) && value.length === 0 && !takesArray) continue;
      found.put(index, readClaim(claimValue(value, takesArray), sourceProperty, input.locationOf('claim', name)));
    }
  },
};

/** Reads a claim by its exact name, which can also be an inherited getter of the principal's class. */
function ownOrInherited(claims: Claims, type: string): unknown {
  return Object.hasOwn(claims, type) || !(type in Object.prototype) ? claims[type] : undefined;
}

/** Returns a claim as JSON. An array of one is one value, whatever is in it. */
function claimValue(value: unknown, takesArray: boolean): unknown {
  const json: unknown = Array.isArray(value) ? value.map(asJson) : asJson(value);
  return Array.isArray(json) && json.length === 1 && !takesArray ? json[0] : json;
}

/** Reads a claim. Each element of an array is one value; only a single text may hold several values. */
function readClaim(value: unknown, sourceProperty: SourceProperty, location: Location): unknown {
  const { codec } = sourceProperty;
  if (isReadAsJson(value, sourceProperty))
    return readOptionalJson(
      sourceProperty,
      isCollection(codec) && value !== null ? [value].flat() : value,
      location.asJson(),
    );
  return Array.isArray(value)
    ? readItems(sourceProperty, value.map(String), location)
    : readText(sourceProperty, [String(value)], location);
}

/** Returns true if a claim is read as JSON: objects, arrays of objects or nulls, and every value for a schema. */
function isReadAsJson(value: unknown, { codec }: SourceProperty): boolean {
  if (notNull(codec).kind === 'schema') return typeof value !== 'string';
  const values = [value].flat();
  // The parser of the token may have rounded a number.
  const hasRounded = values.some(one => typeof one === 'number' && isRounded(one));
  return values.some(one => typeof one === 'object') || (hasRounded && needsExactNumbers(codec));
}
