import { typeOf } from './type-of';
import type { AnyType, Infer, PropertyType } from './property-type';

/** A type whose value may be missing: `undefined` then. Empty text is a missing value, except for a string. */
export function optional<X extends AnyType>(type: X): PropertyType<Infer<X> | undefined> {
  const inner = typeOf(type) as PropertyType<Infer<X>>;
  return {
    ...inner,
    isOptional: true,
    fromText: (values, place) => (values.length === 1 && values[0] === '' && inner.name !== 'string' && inner.shape === 'scalar' ? undefined : inner.fromText(values, place)),
    fromJson: (value, place) => inner.fromJson(value, place),
  };
}

/** A type whose value may be `null`, in JSON. */
export function nullable<X extends AnyType>(type: X): PropertyType<Infer<X> | null> {
  const inner = typeOf(type) as PropertyType<Infer<X>>;
  return {
    ...inner,
    fromText: (values, place) => inner.fromText(values, place),
    fromJson: (value, place) => (value === null ? null : inner.fromJson(value, place)),
  };
}
