import { isOptional, type AnyType, type Infer, type ValueType } from './property-type';

/**
 * A collection. As text: repeated values, `name[]` or `name[0]`, each one item; or one value that is a JSON array, JSON
 * objects with commas between them (Swagger UI sends `{..},{..}`), or items with commas between them.
 */
export function list<X extends AnyType>(type: X): ValueType<Infer<X>[]> {
  return {
    codec(codecs) {
      if (isOptional(type))
        throw new TypeError(
          'a list has no missing items: write optional(list(…)) if the whole list may be missing, or ' +
            'list(nullable(…)) if an item may be null',
        );
      const item = codecs.of(type);
      return { kind: 'list', name: `list of ${item.name}`, item };
    },
  };
}
