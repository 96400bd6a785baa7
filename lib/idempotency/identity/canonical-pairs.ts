/**
 * The pairs of a query or a form in the order in which they are compared: names in any order, the values of one name in
 * theirs. `a[]`, `a[0]` and `A` belong to the name `a`, because binding reads them into one collection, where
 * `?tag=x&Tag=y` and `?Tag=y&tag=x` differ.
 */
export function canonicalPairs(pairs: readonly (readonly [name: string, ...values: string[]])[]): string[] {
  const root = (name: string): string => /^[^[.]*/.exec(name)?.[0].toLowerCase() ?? '';
  return pairs
    .map(pair => ({ pair, root: root(pair[0]) }))
    .sort((a, b) => (a.root < b.root ? -1 : a.root > b.root ? 1 : 0))
    .flatMap(({ pair }) => pair);
}

/** Splits `a=1&b=2` without interpreting it. @param text one character for each byte, as node gives URLs. */
export function splitPairs(text: string): [name: string, value: string][] {
  return text.split('&').filter(part => part !== '').map(part => {
    const equals = part.indexOf('=');
    return equals < 0 ? [decoded(part), decoded('')] : [decoded(part.slice(0, equals)), decoded(part.slice(equals + 1))];
  });
}

/**
 * What a parser would make of the text. Text that cannot be decoded stays as it is, under a mark of its own: were `%FF` and
 * `%FE` both turned into U+FFFD, two different requests would meet, and unmarked, `%ZZ` would meet `%25ZZ`.
 */
function decoded(text: string): string {
  try {
    // A byte beyond ASCII is part of a UTF-8 character, escaped or not.
    const escaped = text.replaceAll('+', ' ').replace(/[\x80-\xff]/g, byte => `%${byte.charCodeAt(0).toString(16)}`);
    return `=${decodeURIComponent(escaped)}`;
  } catch {
    return `%${text}`;
  }
}
