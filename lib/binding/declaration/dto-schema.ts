import BigNumber = require('bignumber.js');
import { isExactNumber, parseExactly } from '../../body/content/exact-json';
import { exactText } from '../types/exact-text';
import { ignoreRejection, isPromise } from '../../basics/awaitable';
import { INVALID } from '../reading/location';
import type { Codec } from '../types/codec';
import type { JsonSchema, Schemas } from '../types/json-schema';
import { written } from '../types/write-value';
import { namingErrors } from './declaration-error';
import type { Member } from './members';

/**
 * Describes an object with these members, under the names that `nameOf` returns. Members that do not bind from the
 * source are left out.
 */
export function objectSchema(
  members: readonly Member[],
  nameOf: (member: Member) => string,
  schemas: Schemas,
  isRequired = mustBeSent,
): JsonSchema {
  const sent = members.filter(({ dontBind }) => schemas.source === undefined || !dontBind.includes(schemas.source));
  const required = sent.filter(member => isRequired(member)).map(nameOf);
  return {
    type: 'object',
    properties: Object.fromEntries(sent.map(member => [nameOf(member), memberSchema(member, schemas)])),
    ...(required.length > 0 && { required }),
  };
}

/**
 * Describes the value of a member.
 * @throws TypeError that names the property if its type cannot be described.
 */
export function memberSchema(member: Member, schemas: Schemas): JsonSchema {
  const { description } = member.spec;
  const value = schemas.direction === 'request' && !member.required ? schemaDefaultOf(member) : undefined;
  return {
    ...namingErrors(`property ${member.property}`, () => schemas.of(member.codec)),
    ...(description !== undefined && { description }),
    ...(value !== undefined && { default: value }),
  };
}

/** Returns true if a request without the value is refused: a schema may have a value of its own for it. */
export function mustBeSent({ required, codec }: Member): boolean {
  if (!required) return false;
  if (!codec.fromNothing) return true;
  const value = attempt(() => codec.fromNothing?.());
  // The value of a promise is not known in time.
  ignoreRejection(value);
  return value === INVALID || isPromise(value);
}

/**
 * Returns the default as JSON; undefined if there is none, if it is made for each request, or if JSON cannot hold it.
 */
function schemaDefaultOf(member: Member): unknown {
  const { default: given, initial } = member.spec;
  if (typeof given === 'function') return undefined;
  const value = initial === undefined ? given : initial;
  if (value === undefined) return undefined;
  const json = jsonOf(member.codec, value);
  return typeof json === 'string' ? plainOf(parseExactly(json)) : undefined;
}

/** Returns the JSON text of a value; another value if it has none. */
const jsonOf = (codec: Codec<unknown>, value: unknown): unknown => attempt(() => exactText(written(codec, value)));

/** Replaces exact numbers: by text if a double would round them, because the document is JSON of `JSON.stringify`. */
function plainOf(value: unknown): unknown {
  if (isExactNumber(value))
    return new BigNumber(Number(value.value)).eq(value.value) ? Number(value.value) : value.value;
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainOf(one)]));
}

/** Calls code of the application; INVALID if it throws. */
function attempt(call: () => unknown): unknown {
  try {
    return call();
  } catch {
    return INVALID;
  }
}
