import { stringify } from 'lossless-json';
import { INVALID } from '../reading/location';
import { written } from '../types/codec';
import type { JsonSchema, Schemas } from '../types/json-schema';
import type { Member } from './members';

/** Describes an object with these members, under the names that `nameOf` returns. */
export function objectSchema(
  members: readonly Member[],
  nameOf: (member: Member) => string,
  schemas: Schemas,
): JsonSchema {
  const required = members.filter(member => mustBeSent(member)).map(nameOf);
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(member => [nameOf(member), memberSchema(member, schemas)])),
    ...(required.length > 0 && { required }),
  };
}

/** Describes the value of a member. */
export function memberSchema(member: Member, schemas: Schemas): JsonSchema {
  const { description } = member.spec;
  const value = schemas.direction === 'request' ? defaultOf(member) : undefined;
  return {
    ...schemas.of(member.codec),
    ...(description !== undefined && { description }),
    ...(value !== undefined && { default: value }),
  };
}

/** Tells whether a request without the value is refused: a schema may have a value of its own for it. */
export function mustBeSent({ required, codec }: Member): boolean {
  if (!required) return false;
  const value = codec.fromNothing?.();
  return value === undefined || value === INVALID;
}

/** Returns the default as JSON; undefined if there is none, or if it is made for each request. */
function defaultOf({ codec, spec: { default: given, initial } }: Member): unknown {
  const value = given ?? initial;
  if (value === undefined || typeof value === 'function') return undefined;
  return JSON.parse(stringify(written(codec, value)) ?? 'null') as unknown;
}
