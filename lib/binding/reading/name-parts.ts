/** A further part of a name: `.name`, `[name]`, `[3]` or `[]`. */
const BELOW = /\.([^.[\]]+)|\[([^.[\]]*)\]/y;

/**
 * Returns the next part of a name, and where the one after it begins. A rest that is not spelled like a path is one
 * part.
 */
export function step(name: string, from: number): readonly [key: string, next: number] {
  if (from === 0) {
    const end = name.search(/[.[\]]/);
    // Most names have one part. A dot or bracket at the beginning is part of the name.
    return end < 1 ? [name, name.length] : [name.slice(0, end), end];
  }
  BELOW.lastIndex = from;
  const [, property, index] = BELOW.exec(name) ?? [];
  const key = property ?? index;
  return key === undefined ? [name.slice(from), name.length] : [key, BELOW.lastIndex];
}

/** Returns true if a name may have several parts. */
export const hasParts = (name: string): boolean => /[.[\]]/.test(name);

/** Returns the first part of a name in lower case, because a name may be sent in any case. */
export const firstPart = (name: string): string => (name.split(/[.[]/, 1)[0] ?? '').toLowerCase();

/** Returns all parts of a name in lower case. */
function partsOf(name: string): readonly string[] {
  const parts: string[] = [];
  for (let from = 0; from < name.length;) {
    const [key, next] = step(name, from);
    parts.push(key.toLowerCase());
    from = next;
  }
  return parts;
}

/**
 * Makes the function that finds what is declared under a name that was sent, or above it; if there are several, under
 * the longest of these names: of `photo` and `photo.front`, the second for `photo[front][0]`.
 */
export function finderOf<T>(declared: readonly T[], nameOf: (one: T) => string): (sent: string) => T | undefined {
  const inOrder = declared
    .map(one => ({ one, parts: partsOf(nameOf(one)) }))
    .filter(({ parts }) => parts.length > 0)
    .sort((a, b) => a.parts.length - b.parts.length);
  return sent => {
    const parts = partsOf(sent);
    return inOrder.findLast(one => one.parts.every((part, index) => part === parts[index]))?.one;
  };
}

/** Counts the levels of a name without splitting it. */
export function levelsOf(name: string): number {
  let levels = 1;
  for (const character of name) if (character === '.' || character === '[') levels++;
  return levels;
}
