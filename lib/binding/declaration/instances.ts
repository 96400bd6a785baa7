import { ownValue } from '../reading/own-value';
import type { DtoClass } from '../types/property-type';
import { bareInstance } from './bare-instance';
import { propertiesOf } from './class-properties';
import { baseClasses } from './declarations';
import { defaultOf, hasMadeDefaults, isMade } from './default-value';
import type { PropertySpec } from './property';

/**
 * Makes a function that creates instances with their defaults, but for those that `completion` makes. (A legacy
 * decorator cannot set them: it never sees an instance.)
 */
export function instancesOf<T>(Dto: DtoClass<T>): () => T & Record<string, unknown> {
  const defaults = [...propertiesOf(Dto)].filter(([, spec]) => spec.default !== undefined);
  const late = new Map(lateDefaults(Dto));
  const mustBeBare = hasMadeDefaults(Dto);
  return () => {
    const dto = (mustBeBare ? bareInstance(Dto) : new Dto()) as T & Record<string, unknown>;
    for (const [name, spec] of defaults)
      if (spec.replacesInherited || ownValue(dto, name) === undefined)
        Object.assign(dto, { [name]: late.has(name) ? undefined : defaultOf(spec) });
    return dto;
  };
}

/**
 * Makes a function that completes an instance whose values are valid: where none was found, it calls the function that
 * makes the default, or else removes the property. Returns undefined if there is nothing to do.
 */
export function completion(Dto: DtoClass<unknown>): ((dto: object) => void) | undefined {
  const late = lateDefaults(Dto);
  const removeUnset = unsetRemover(Dto);
  if (late.length === 0) return removeUnset;
  return dto => {
    for (const [name, spec] of late)
      if (ownValue(dto, name) === undefined) Object.assign(dto, { [name]: defaultOf(spec) });
    removeUnset?.(dto);
  };
}

/**
 * Makes a function that removes the properties for which no value was found: `{ ...entity, ...dto }` must keep the
 * entity's values. Returns undefined if the class makes no property itself, so that there is nothing to remove.
 */
function unsetRemover(Dto: DtoClass<unknown>): ((dto: object) => void) | undefined {
  const made = [...propertiesOf(Dto)].filter(([, spec]) => spec.isMadeByClass).map(([name]) => name);
  if (made.length === 0) return undefined;
  return dto => {
    const values = dto as Record<string, unknown>;
    for (const name of made)
      // `delete` of an absent property would make the object slow to use.
      if (values[name] === undefined && Object.hasOwn(values, name)) Reflect.deleteProperty(values, name);
  };
}

/** Finds the properties whose default a function makes. A setter does not show whether a value was found for it. */
function lateDefaults(Dto: DtoClass<unknown>): [name: string, spec: PropertySpec][] {
  const prototypes = [...baseClasses(Dto.prototype as object)];
  const hasSetter = (name: string): boolean =>
    prototypes.some(one => Object.getOwnPropertyDescriptor(one, name)?.set !== undefined);
  return [...propertiesOf(Dto)].filter(([name, spec]) => isMade(spec) && !hasSetter(name));
}
