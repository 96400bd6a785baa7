import { describe } from '../../options/check';
import { isExactNumber } from '../../body/content/exact-json';
import type { RuledType } from './rules';
import { scalar } from './scalar';

type Value = string | number;
type EnumObject = Readonly<Record<string, Value>>;

/**
 * One of a fixed set of values: a member name in any case, or a defined value.
 * @param members a TypeScript enum, an object like one, or a list of strings.
 * @throws TypeError for anything else.
 */
export function enumOf<const E extends EnumObject | readonly string[]>(
  members: E,
  ...others: never[]
): RuledType<E extends readonly (infer V)[] ? V : E[keyof E]> {
  const isList = Array.isArray(members);
  const isMember = (value: unknown): boolean => typeof value === 'string' || (typeof value === 'number' && !isList);
  const given = typeof members === 'object' ? Object.entries<Value>(Object(members) as EnumObject) : [];
  if (given.length === 0 || !given.every(([, value]) => isMember(value)) || others.length > 0)
    throw new TypeError(
      "enumOf takes an enum, or a list of at least one string: enumOf(['draft', 'sent']), " +
        `not ${[members, ...others].map(describe).join(', ')}`,
    );
  // A numeric enum also has its values as keys (`E[1] = 'A'`).
  const entries = given.filter(([name, value]) => (members as EnumObject)[value] !== Number(name));
  const values = entries.map(([, value]) => value);
  const names = isList ? values.map(String) : entries.map(([name]) => name);
  const byName = new Map(names.map((name, at) => [name.toLowerCase(), values[at]]));
  const byValue = new Map(values.map(value => [String(value), value]));
  const find = (text: string): Value | undefined => byValue.get(text) ?? byName.get(text.toLowerCase());
  // A value may begin or end with blanks itself.
  const read = (text: string): Value | undefined => find(text) ?? find(text.trim());
  const list = `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;
  const kinds = [...new Set(values.map(value => typeof value))];
  return scalar(`enum (${list})`, {
    described: `one of ${list}`,
    text: read,
    json(value) {
      // As JSON.parse would read it: 2.50 is 2.5.
      const plain: unknown = isExactNumber(value) ? Number(value.value) : value;
      return typeof plain === 'string' || typeof plain === 'number' ? read(String(plain)) : undefined;
    },
    schema: {
      type: kinds.length === 1 ? kinds[0] : kinds,
      enum: values,
      // Generators of clients read the names of the values from this extension.
      ...(!isList && { 'x-enum-varnames': names }),
    },
  }) as RuledType<E extends readonly (infer V)[] ? V : E[keyof E]>;
}
