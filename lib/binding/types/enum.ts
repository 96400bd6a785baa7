import { describe } from '../../options/check';
import { isExactNumber } from '../../body/content/exact-json';
import type { RuledType } from './rules';
import { scalar } from './scalar';

type EnumObject = Readonly<Record<string, string | number>>;

/**
 * One of a fixed set of values: a member name in any case, or a defined value.
 * @param members a TypeScript enum, an object like one, or a list of strings.
 * @throws TypeError for anything else.
 */
export function enumOf<const E extends EnumObject | readonly string[]>(
  members: E,
  ...others: never[]
): RuledType<E extends readonly (infer V)[] ? V : E[keyof E]> {
  refuseUnlessMembers(members, others);
  const entries: [name: string, value: string | number][] = Array.isArray(members)
    ? members.map((value: string) => [value, value])
    : // A numeric enum also has its values as keys (`E[1] = 'A'`).
      Object.entries(members as EnumObject).filter(
        ([name, value]) => !(typeof value === 'string' && (members as EnumObject)[value] === Number(name)),
      );
  const byName = new Map(entries.map(([name, value]) => [name.toLowerCase(), value]));
  const byValue = new Map(entries.map(([, value]) => [String(value), value]));
  const find = (text: string): string | number | undefined => byValue.get(text) ?? byName.get(text.toLowerCase());
  // A value may begin or end with blanks itself.
  const read = (text: string): string | number | undefined => find(text) ?? find(text.trim());
  const shown = entries.slice(0, 10).map(([member]) => member);
  const list = `${shown.join(', ')}${entries.length > shown.length ? ', …' : ''}`;
  const names = entries.map(([member]) => member);
  const values = entries.map(([, value]) => value);
  const kinds = [...new Set(values.map(value => typeof value))];
  return scalar(`enum (${list})`, {
    described: `one of ${list}`,
    text: read,
    schema: {
      type: kinds.length === 1 ? kinds[0] : kinds,
      enum: values,
      // Generators of clients read the names of the values from this extension.
      ...(!Array.isArray(members) && { 'x-enum-varnames': names }),
    },
    json: value =>
      typeof value === 'string' || typeof value === 'number'
        ? read(String(value))
        : isExactNumber(value)
          ? // As JSON.parse would read it: 2.50 is 2.5.
            read(String(Number(value.value)))
          : undefined,
  }) as RuledType<E extends readonly (infer V)[] ? V : E[keyof E]>;
}

/** @throws TypeError if `members` is neither an enum nor a list of strings, or if members are given without a list. */
function refuseUnlessMembers(members: unknown, others: readonly unknown[]): void {
  const isNamed = typeof members === 'object' && members !== null;
  const values = isNamed ? Object.values(members) : [];
  const isEnum =
    values.length > 0 &&
    values.every(value => typeof value === 'string' || (typeof value === 'number' && !Array.isArray(members)));
  if (!isEnum || others.length > 0)
    throw new TypeError(
      "enumOf takes an enum, or a list of at least one string: enumOf(['draft', 'sent']), " +
        `not ${[members, ...others].map(describe).join(', ')}`,
    );
}
