import { isOptional, type AnyType, type Infer } from './property-type';
import { listRules, type ListRules } from './rule-kinds';
import { ruledType, type CommonRules, type RuledType } from './rules';

/**
 * A collection. As text: repeated values, `name[]` or `name[0]`, each one item; or one value that is a JSON array, JSON
 * objects with commas between them (Swagger UI sends `{..},{..}`), or items with commas between them.
 * @param rules the same as `list(type).with(rules)`.
 */
export function list<X extends AnyType>(
  type: X,
  rules?: ListRules & CommonRules<Infer<X>[]>,
): RuledType<Infer<X>[], ListRules> {
  const plain = ruledType<Infer<X>[], ListRules>('list', listRules, codecs => {
    if (isOptional(type))
      throw new TypeError(
        'a list has no missing items: write optional(list(…)) if the whole list may be missing, or ' +
          'list(nullable(…)) if an item may be null',
      );
    const item = codecs.of(type);
    return { kind: 'list', name: `list of ${item.name}`, item };
  });
  return rules === undefined ? plain : plain.with(rules);
}
