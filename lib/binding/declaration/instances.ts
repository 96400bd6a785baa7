import type { ClassCode } from '../reading/class-code';
import { ownValue } from '../reading/own-value';
import type { DtoClass } from '../types/property-type';
import { defaultOf } from './default-value';
import type { PropertySpec } from './property';

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
      if (spec.replacesInherited || ownValue(dto, name) === undefined) Object.assign(dto, { [name]: defaultOf(spec) });
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
