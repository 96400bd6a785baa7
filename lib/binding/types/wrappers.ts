import { innerTypeOf } from './type-of';
import type { AnyType, Infer, PropertyType } from './property-type';

/** A type whose value may be missing: `undefined` then. */
export function optional<X extends AnyType>(type: X): PropertyType<Infer<X> | undefined> {
  const inner = innerTypeOf(type) as PropertyType<Infer<X>>;
  return {
    ...inner,
    isOptional: true,
  };
}

/** A type whose value may be `null`, in JSON. */
export function nullable<X extends AnyType>(type: X): PropertyType<Infer<X> | null> {
  const inner = innerTypeOf(type) as PropertyType<Infer<X>>;
  return {
    ...inner,
    takesNull: true,
    fromJson: (value, place) => (value === null ? null : inner.fromJson(value, place)),
  };
}
