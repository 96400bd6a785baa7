import type { Claims } from '../../principal/principal';
import type { ValueSource } from '../input/binder-context';
import type { SourceProperty } from '../plan/source-properties';
import { asJson } from '../reading/json-text';
import { INVALID, Location } from '../reading/location';
import { NameTree } from '../reading/name-tree';
import { isCollection, needsExactNumbers, notNull, takesNull } from '../types/codec';
import { isRounded } from '../types/numbers';
import { readOptionalJson } from '../types/read-json';
import { readNames } from '../types/read-names';

/** The claims of the caller; claim types are case-insensitive. */
export const claim: ValueSource = {
  name: 'claim',
  missing: 'The caller does not have this claim.',
  read(context, properties, put) {
    const claims = context.endpoint.options.claims(context.req);
    if (!claims) return;
    const byType = new Map(Object.entries(claims).map(([type, value]) => [type.toLowerCase(), value]));
    for (const property of properties) {
      const { name, anyCase, codec } = property;
      const value = ownOrInherited(claims, name) ?? byType.get(anyCase);
      if (value === undefined || (value === null && !takesNull(codec))) continue;
      const takesArray = isCollection(codec) || notNull(codec).kind === 'schema';
      const isEmpty = Array.isArray(value) && value.length === 0 && !takesArray;
      const at = Location.of(context.noted, 'claim', name);
      const read = isEmpty ? undefined : readClaim(claimValue(value, takesArray), property, at);
      // A value of the client counts only if the caller does not have the claim, whatever its value is read as.
      put(property, read === undefined ? INVALID : read);
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
function readClaim(value: unknown, property: SourceProperty, at: Location): unknown {
  const { codec } = property;
  if (isReadAsJson(value, codec))
    return readOptionalJson(property, isCollection(codec) && value !== null ? [value].flat() : value, at.asJson());
  const texts = [value].flat().map(String);
  const areItems = Array.isArray(value) && isCollection(codec);
  return readNames(property, NameTree.of(texts, areItems), at);
}

/** Returns true if a claim is read as JSON: objects, arrays of objects or nulls, and every value for a schema. */
function isReadAsJson(value: unknown, codec: SourceProperty['codec']): boolean {
  if (notNull(codec).kind === 'schema') return typeof value !== 'string';
  const values = [value].flat();
  // The parser of the token may have rounded a number.
  const hasRounded = values.some(one => typeof one === 'number' && isRounded(one));
  return values.length === 0 || values.some(one => typeof one === 'object') || (hasRounded && needsExactNumbers(codec));
}

/**
 * The permissions of the caller: true if the caller has the permission of that exact name. No other source binds to
 * such a property, so nothing that a client sends can set it.
 */
export const permission: ValueSource = {
  name: 'permission',
  missing: 'The caller does not have this permission.',
  read(context, properties, put) {
    const held = new Set(context.endpoint.options.permissions(context.req));
    for (const property of properties) {
      const { name, required } = property;
      const isRefused = required && !held.has(name);
      const at = Location.of(context.noted, 'permission', name);
      put(property, isRefused ? at.failMissing(permission.missing) : held.has(name));
    }
  },
};
