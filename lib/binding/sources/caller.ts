import type { Claims } from '../../principal/principal';
import type { ValueSource } from '../input/binder-context';
import type { SourceProperty } from '../plan/source-properties';
import { asJson } from '../reading/json-text';
import { INVALID, Location } from '../reading/location';
import { NameTree } from '../reading/name-tree';
import { isCollection, needsExactNumbers, notNull, takesNull } from '../types/codec';
import { isRounded } from '../types/numbers';
import { readNothing, readOptionalJson } from '../types/read-json';
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
      const at = Location.of(context.noted, 'claim', name);
      const read = readClaim(value, property, at);
      // A value of the client counts only if the caller does not have the claim, whatever its value is read as.
      put(property, read === undefined ? (readNothing(property, at, claim.missing) ?? INVALID) : read);
    }
  },
};

/** Reads a claim by its exact name, which can also be an inherited getter of the principal's class. */
function ownOrInherited(claims: Claims, type: string): unknown {
  return Object.hasOwn(claims, type) || !(type in Object.prototype) ? claims[type] : undefined;
}

/**
 * Reads a claim. Each element of an array is one value, and an array of one is that value, whatever is in it; only a
 * single text may hold several values.
 */
function readClaim(claimed: unknown, property: SourceProperty, at: Location): unknown {
  const { codec } = property;
  const isList = isCollection(codec);
  const isSchema = notNull(codec).kind === 'schema';
  const all: unknown[] = [claimed].flat().map(asJson);
  if (all.length === 0 && !isList && !isSchema) return undefined;
  const isArray = Array.isArray(claimed) && (isList || isSchema || all.length > 1);
  const value = isArray ? all : all[0];
  // The parser of the token may have rounded a number.
  const hasRounded = needsExactNumbers(codec) && all.some(one => typeof one === 'number' && isRounded(one));
  const isJson = all.length === 0 || hasRounded || all.some(one => typeof one === 'object');
  if (isSchema ? typeof value !== 'string' : isJson)
    return readOptionalJson(property, isList && value !== null ? all : value, at.asJson());
  return readNames(property, NameTree.of(all.map(String), isArray && isList), at);
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
