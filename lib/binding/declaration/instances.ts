import { ownValue } from '../reading/json-text';
import type { DtoClass } from '../types/property-type';
import { propertiesOf } from './class-properties';
import { defaultOf } from './default-value';

/** Makes a function that creates instances with their defaults. (A legacy decorator cannot set them: it sees none.) */
export function instancesOf<T>(Dto: DtoClass<T>): () => T & Record<string, unknown> {
  const defaults = [...propertiesOf(Dto)].filter(([, spec]) => spec.default !== undefined);
  return () => {
    const dto = new Dto() as T & Record<string, unknown>;
    for (const [name, spec] of defaults)
      if (ownValue(dto, name) === undefined) Object.assign(dto, { [name]: defaultOf(spec) });
    return dto;
  };
}

/**
 * Makes a function that removes the properties for which no value was found: `{ ...entity, ...dto }` must keep the
 * entity's values. Returns undefined if the class makes no property itself, so that there is nothing to remove.
 */
export function completion(Dto: DtoClass<unknown>): ((dto: object) => void) | undefined {
  const made = Object.keys(new Dto() as object).filter(name => propertiesOf(Dto).has(name));
  if (made.length === 0) return undefined;
  return dto => {
    const values = dto as Record<string, unknown>;
    for (const name of made)
      // `delete` of an absent property would make the object slow to use.
      if (values[name] === undefined && Object.hasOwn(values, name)) Reflect.deleteProperty(values, name);
  };
}
