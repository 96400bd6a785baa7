import type { ClassCode } from '../reading/class-code';
import { ownValue } from '../reading/own-value';
import type { DtoClass } from '../types/property-type';
import { isDto, type PropertySpec } from './property';

/**
 * Makes the default value for one request. A mutable default is made anew, by its function or as a copy, so that no
 * request sees another's changes.
 */
export function defaultOf({ default: value }: Pick<PropertySpec, 'default'>): unknown {
  return typeof value === 'function' ? (value as () => unknown)() : copyOf(value);
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  if (value instanceof URL) return new URL(value);
  if (Buffer.isBuffer(value)) return Buffer.from(value);
  if (value instanceof Date || value instanceof Map || value instanceof Set || ArrayBuffer.isView(value))
    return structuredClone(value);
  if (!isPlain(value)) return value;
  return Object.assign(
    Object.create(Object.getPrototypeOf(value) as object | null) as object,
    Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copyOf(one)])),
  );
}

/** Returns true if a default is copied: plain objects and dtos are, instances of other classes are not. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype === Object.prototype || isDto(prototype.constructor);
}

/**
 * Makes a function that creates instances with their defaults. (A legacy decorator cannot set them: it never sees an
 * instance.)
 */
export function instancesOf<T>(
  Dto: DtoClass<T>,
  properties: ReadonlyMap<string, PropertySpec>,
  code: ClassCode,
): () => T & Record<string, unknown> {
  const defaults = [...properties].filter(([, spec]) => spec.default !== undefined);
  const make = code.maker(Dto);
  return () => {
    const dto = make() as T & Record<string, unknown>;
    for (const [name, spec] of defaults)
      if (ownValue(dto, name) === undefined) Object.assign(dto, { [name]: defaultOf(spec) });
    return dto;
  };
}

/**
 * Makes a function that removes the properties for which no value was found: `{ ...entity, ...dto }` must keep the
 * entity's values. Returns undefined if the class makes no property itself, so that there is nothing to remove.
 */
export function unsetRemover(
  properties: ReadonlyMap<string, PropertySpec>,
  code: ClassCode,
): ((dto: object) => void) | undefined {
  const made = [...properties].filter(([, spec]) => spec.isMadeByClass).map(([name]) => name);
  return made.length === 0 ? undefined : code.clearer(made);
}
