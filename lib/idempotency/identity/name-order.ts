import { splitAtEquals } from '../../body/content/urlencoded';

/**
 * What names of a query or a form begin with, up to a dot or a bracket, if every parser reads the same there: nothing
 * that is decoded, since `%61` may be another spelling of `a`, and no name without a root, since qs reads `[a]` as `a`.
 */
const ROOT = /^(?:(?![%+.=?[\]])[!-~])+(?=$|[.[]|%5b)/i;

const rootOf = (name: string): string | undefined => ROOT.exec(name)?.[0].toLowerCase();

/**
 * Sorts the entries of a query or a form for comparison: names may come in any order. All names of one root (`a`, `A`,
 * `a.b`, `a[]`) keep theirs, since parsers put them together: binding reads `?tag=x&Tag=y` as [x, y]. If a name has no
 * root, it may belong to any other, and all entries keep their order.
 */
export function inNameOrder<T extends readonly [name: string, ...values: unknown[]]>(
  entries: readonly T[],
): readonly T[] {
  return entries.every(([name]) => rootOf(name) !== undefined)
    ? sortedBy(entries, ([name]) => rootOf(name) ?? '')
    : entries;
}

/** Returns the items in the order of their texts. Items of one text keep their order. */
export function sortedBy<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  return items
    .map(item => ({ item, text: textOf(item) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ item }) => item);
}

/** Returns the pairs of a query or an urlencoded form, as they were sent: two spellings of a value are two values. */
export function pairsInOrder(text: string): readonly string[] {
  const pairs = text.split('&').filter(pair => pair !== '');
  return inNameOrder(pairs.map(pair => [splitAtEquals(pair)[0], pair] as const)).map(([, pair]) => pair);
}
