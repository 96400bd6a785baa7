import type { Place } from './place';
import type { PropertyType } from './types/property-type';

/** What decides how nothing is read: whether a value must be there, and what its type takes. */
interface Expected {
  readonly type: PropertyType<unknown>;
  readonly required: boolean;
}

/** Reads text for a property. Empty text is a missing value where one may be missing; for a string it is the empty string. */
export function readText({ type, required }: Expected, values: readonly string[], place: Place): unknown {
  const isNothing = values.length === 1 && values[0] === '' && !required && !type.takesEmptyText;
  return isNothing ? undefined : type.fromText(values, place);
}

/** Reads JSON for a property. `null` is a missing value where one may be missing, unless the type takes it. */
export function readJson({ type, required }: Expected, value: unknown, place: Place): unknown {
  return value === null && !required && !type.takesNull ? undefined : type.fromJson(value, place);
}
