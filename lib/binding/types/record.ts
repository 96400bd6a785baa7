import { isOptional, type AnyType, type Infer, type ValueType } from './property-type';

/**
 * An object whose names are the client's. It has no prototype, so that `__proto__` is a name like any other.
 * @param type of all its values.
 */
export function record<X extends AnyType>(type: X): ValueType<Record<string, Infer<X>>> {
  return {
    codec(codecs) {
      if (isOptional(type))
        throw new TypeError(
          'a record has no missing values: write optional(record(…)) if the whole record may be missing, or ' +
            'record(nullable(…)) if a value may be null',
        );
      const item = codecs.of(type);
      return { kind: 'record', name: `record of ${item.name}`, item };
    },
  };
}
