/** A name of a query or a form, and what was sent under it. */
type Named = readonly [name: string, ...values: unknown[]];

/**
 * Sorts entries by their names, as far as every usual parser reads the same from them. The values of one name keep
 * their order, and so do all names of one root (`a`, `A`, `a.b`, `a[]`) if a parser may read them differently in
 * another one: binding reads `?tag=x&Tag=y` as [x, y], and `?Tag=y&tag=x` as [y, x].
 * @param nameOf the whole name of an entry, if the entry has only its end.
 */
export function inNameOrder<T extends Named>(
  entries: readonly T[],
  nameOf = ([name]: T): string => name,
): readonly T[] {
  const names = entries.map(nameOf);
  if (names.every(isRoot)) return sortedBy(entries, entry => nameOf(entry).toLowerCase());
  // Without a root, a name may belong to any other: qs reads `[]` like `0`, and `[a]` like `a`.
  if (names.some(name => rootOf(name) === '' && name !== '')) return entries;
  const kept = rootsInOrder(names);
  return sortedBy(entries, entry => {
    const name = nameOf(entry);
    const root = rootOf(name);
    return kept.has(root) ? root : name;
  });
}

/** Returns the items in the order of their texts. Items of one text keep their order. */
export function sortedBy<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  return items
    .map(item => ({ item, text: textOf(item) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ item }) => item);
}

const isRoot = (name: string): boolean => /^[^.[\]]*$/.test(name);

const rootOf = (name: string): string => (/^[^.[\]]*/.exec(name)?.[0] ?? '').toLowerCase();

/** Returns the roots below which the order of names counts. */
function rootsInOrder(names: readonly string[]): ReadonlySet<string> {
  const byRoot = new Map<string, Set<string>>();
  for (const name of names) {
    const root = rootOf(name);
    byRoot.set(root, (byRoot.get(root) ?? new Set()).add(name));
  }
  return new Set([...byRoot].filter(([, below]) => below.size > 1 && !areApart(below)).map(([root]) => root));
}

/**
 * Names like `a.b[c][0]`, which every parser splits at the same places, or not at all. Not so `items[0].sku`, of which
 * qs ignores `.sku`, and `a[01]`, which may be the same index as `a[1]`. The number of parts is bounded, because every
 * name above a name is looked up.
 */
const PLAIN = /^[^.[\]]+(?:\.(?!0\d)[^.[\]]+){0,5}(?:\[(?!0\d)[^.[\]]+\]){0,5}$/;

/**
 * Returns true if the names are plain and address different places. The order of names matters if two of them address
 * the same place (`a.b` and `a[b]`), if one is above another (`a` and `a.b`: parsers make an object or a list, by what
 * comes first), or if a part has two spellings (`a.b` and `A.c`: binding takes the first for both).
 */
function areApart(names: Iterable<string>): boolean {
  /** The spelling of each name above another, and an empty text for the end of one. */
  const places = new Map<string, string>();
  for (const name of names) {
    if (!PLAIN.test(name)) return false;
    const path = name.replaceAll('[', '.').replaceAll(']', '');
    for (let end = path.indexOf('.'); end >= 0; end = path.indexOf('.', end + 1)) {
      const above = path.slice(0, end);
      const anyCase = above.toLowerCase();
      if ((places.get(anyCase) ?? above) !== above) return false;
      places.set(anyCase, above);
    }
    if (places.has(path.toLowerCase())) return false;
    places.set(path.toLowerCase(), '');
  }
  return true;
}
