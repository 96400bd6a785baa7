/**
 * A Keyv, version 5 or 6. It is typed by what is called of it, because the declarations of Keyv's builds for `import` and for
 * `require` have private members, and so do not accept each other's objects.
 */
export interface KeyvLike {
  /** What the Keyv keeps its data in: an adapter, or a Map. */
  readonly store: unknown;
  /** What goes before each key. */
  readonly namespace?: string | undefined;
  get(key: string): Promise<unknown>;
  /** @param ttl milliseconds. */
  set(key: string, value: unknown, ttl: number): Promise<boolean>;
  delete(key: string): Promise<boolean>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

export function isKeyvLike(value: unknown): value is KeyvLike {
  return hasMethods(value, 'get', 'set', 'delete', 'on') && isStore((value as Partial<KeyvLike>).store);
}

/** What tells a collection in this process from the adapter of a server: it can be iterated or counted on the spot. */
export function isMapLike(store: object): boolean {
  return Symbol.iterator in store || typeof (store as { size?: unknown }).size === 'number';
}

/**
 * The layers under a Keyv, the outermost first: Keyv 5 has one, the adapter or the Map; Keyv 6 puts an adapter of its own around
 * a Map, and around an adapter that was made for Keyv 5.
 */
export function layersUnder({ store }: KeyvLike): readonly [object, ...object[]] {
  const outer = store as object;
  const inner = (outer as Partial<KeyvLike>).store;
  return isStore(inner) ? [outer, inner] : [outer];
}

/** What actually holds a Keyv's data. */
export function holderOf(keyv: KeyvLike): object {
  const [outer, inner = outer] = layersUnder(keyv);
  return inner;
}

/** The namespace of a Keyv; Keyv 6 leaves it to an adapter that has one of its own. */
export function namespaceOf(keyv: KeyvLike): string | undefined {
  const [adapter] = layersUnder(keyv);
  return keyv.namespace ?? (adapter as Partial<KeyvLike>).namespace;
}

const isStore = (value: unknown): value is object => hasMethods(value, 'get', 'set', 'delete');

function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every(name => typeof (value as Record<string, unknown>)[name] === 'function')
  );
}
