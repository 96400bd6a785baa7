import type { Claims } from '../../principal/principal';
import type { ValueSource } from '../input/binder-context';
import type { SourceProperty } from '../plan/source-properties';
import { asJson } from '../reading/json-text';
import type { Location } from '../reading/location';
import { NameTree } from '../reading/name-tree';
import { isCollection, needsExactNumbers, notNull, takesNull } from '../types/codec';
import { isRounded } from '../types/numbers';
import { readOptionalJson } from '../types/read-json';
import { readNames } from '../types/read-names';

/** The claims of the caller; claim types are case-insensitive. */
export const claim: ValueSource = {
  name: 'claim',
  missing: 'The caller does not have this claim.',
  read(context, members, values) {
    const claims = context.endpoint.options.claims(context.req);
    if (!claims) return;
    const byType = new Map(Object.entries(claims).map(([type, value]) => [type.toLowerCase(), value]));
    for (const member of members) {
      const { index, name, anyCase, codec } = member;
      const value = ownOrInherited(claims, name) ?? byType.get(anyCase);
      if (value === undefined || (value === null && !takesNull(codec))) continue;
      // A value of the client counts only if the caller does not have the claim, whatever its value is read as.
      values[index] = undefined;
      const takesArray = isCollection(codec) || notNull(codec).kind === 'schema';
      if (Array.isArray(value) && value.length === 0 && !takesArray) continue;
      context.put(values, member, readClaim(claimValue(value, takesArray), member, context.locationOf('claim', name)));
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
function readClaim(value: unknown, member: SourceProperty, at: Location): unknown {
  const { codec } = member;
  if (isReadAsJson(value, codec))
    return readOptionalJson(member, isCollection(codec) && value !== null ? [value].flat() : value, at.asJson());
  const texts = [value].flat().map(String);
  const areItems = Array.isArray(value) && isCollection(codec);
  return readNames(member, NameTree.of(texts, areItems), at);
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
  read(context, members, values) {
    const held = new Set(context.endpoint.options.permissions(context.req));
    const fail = (name: string): unknown => context.locationOf('permission', name).failMissing(permission.missing);
    for (const { index, name, required } of members) values[index] = held.has(name) || (required ? fail(name) : false);
  },
};
