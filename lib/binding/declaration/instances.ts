import type { ClassCode } from '../reading/class-code';
import { ownValue } from '../reading/own-value';
import type { DtoClass } from '../types/property-type';
import { propertiesOf } from './class-properties';
import { defaultOf } from './default-value';

/** Makes a function that creates instances with their defaults. (A legacy decorator cannot set them: it sees none.) */
export function instancesOf<T>(Dto: DtoClass<T>, code: ClassCode): () => T & Record<string, unknown> {
  const defaults = [...propertiesOf(Dto)].filter(([, spec]) => spec.default !== undefined);
  const make = code.maker(Dto);
  return () => {
    const dto = make()() as T & Record<string, unknown>;
    for (const [name, spec] of defaults)
      if (ownValue(dto, name) === undefined) Object.assign(dto, { [name]: defaultOf(spec) });
    return dto;
  };
}

/**
 * Makes a function that removes the properties for which no value was found: `{ ...entity, ...dto }` must keep the
 * entity's values. Returns undefined if the class makes no property itself, so that there is nothing to remove.
 */
export function completion(Dto: DtoClass<unknown>, code: ClassCode): ((dto: object) => void) | undefined {
  const made = Object.keys(new Dto() as object).filter(name => propertiesOf(Dto).has(name));
  if (made.length === 0) return undefined;
  const clear = code.clearer(made);
  return dto => {
    clear()(dto);
  };
}
