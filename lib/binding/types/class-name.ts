/** Returns the name of a class; empty for a type that has none, or whose static property `name` is not text. */
export function classNameOf(type: unknown): string {
  const { name } = Object(type) as { readonly name?: unknown };
  return typeof name === 'string' ? name : '';
}
