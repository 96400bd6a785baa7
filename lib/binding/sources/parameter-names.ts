/** The path of a route, as the application wrote it. */
export type RoutePath = string | RegExp;

/** Escapes are text. A quoted name of Express 5 may have any characters. */
const NAMES = /\\.|[:*](?:"(?<quoted>(?:\\.|[^"\\])*)"|(?<plain>[$_\p{ID_Start}][$\u200c\u200d\p{ID_Continue}]*))/gu;
/** A pattern may follow a name: `:id(\\d+)`. Wildcards and other groups are numbered. */
const NAMES_4 = /\\.|:(?<plain>\w+)(?:\(.*?\))?|(?<unnamed>\*|\((?!\?))/g;
/** The groups of a regular expression, without those that are not captured: `(?:`, `(?=`, `(?<!`. */
const GROUPS = /\\.|\((?:\?<(?<plain>[^=!>][^>]*)>|(?<unnamed>(?!\?)))/g;

/** Returns the names of all parameters of a path, also of those that a request may lack. */
export function parameterNames(path: RoutePath, ofExpress4: boolean): string[] {
  const found = typeof path === 'string' ? path.matchAll(ofExpress4 ? NAMES_4 : NAMES) : path.source.matchAll(GROUPS);
  let unnamed = 0;
  return [...found].flatMap(({ groups = {} }) => {
    if (groups['unnamed'] !== undefined) return [String(unnamed++)];
    return groups['plain'] ?? groups['quoted']?.replace(/\\(.)/g, '$1') ?? [];
  });
}
