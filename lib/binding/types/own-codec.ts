import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isDto } from '../declaration/property';
import type { Codec } from './codec';
import { objectCodec } from './object';
import { parsableCodec } from './parsable';
import { isPropertyType, type AnyType, type Codecs, type Parsable } from './property-type';
import { schemaCodec } from './schema';

/** How a type reads and writes by itself; undefined for a class that needs a value parser or a converter. */
export function ownCodec(type: AnyType, codecs: Codecs): Codec<unknown> | undefined {
  assertType(type);
  if (isSchema(type)) return schemaCodec(type);
  if (isPropertyType(type)) return type.codec(codecs);
  const asObject = isDto(type) ? objectCodec(type, codecs) : undefined;
  return isParsable(type) ? parsableCodec(type, asObject) : asObject;
}

/** The parameters below are unknown: callers without a compiler pass anything. @throws TypeError when it is no type at all. */
export function assertType(type: unknown): asserts type is AnyType {
  if (has(type, 'declaredAs'))
    throw new TypeError(
      'it is declared twice: the kind of property goes outside, the type inside, for example routeParam(optional(int)).',
    );
  if (isPropertyType(type) || isSchema(type) || isParsable(type) || typeof type === 'function') return;
  throw new TypeError(
    `${nameOf(type)} is not a type that values can be bound to. Use a type of bindonce (string, int, list(…)), a dto class, a class with a static tryParse, or a Standard Schema.`,
  );
}

/** What stands where a type should, with what was probably meant. */
function nameOf(type: unknown): string {
  if (typeof type === 'string')
    return `The text ${JSON.stringify(type.slice(0, 60))} (the type comes first, as in fromHeader(string, { name: 'X-Tenant' }))`;
  if (Array.isArray(type)) return 'An array (write list(int) for a collection of int)';
  return typeof type === 'object' && type !== null
    ? 'An object (a dto is a class: class Address extends dto({ street: string }) {})'
    : String(type);
}

export function isSchema(type: unknown): type is StandardSchemaV1 {
  return has(type, '~standard') && has(type['~standard'], 'validate');
}

function isParsable(type: unknown): type is Parsable<unknown> {
  return has(type, 'tryParse') && typeof type.tryParse === 'function';
}

function has<K extends string>(value: unknown, name: K): value is Record<K, unknown> {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && name in value;
}
