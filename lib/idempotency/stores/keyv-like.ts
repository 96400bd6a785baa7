/**
 * A Keyv, version 5 or 6. The type has the members that bindonce calls, because the declarations of Keyv's builds for
 * `import` and for `require` have private members, and so do not accept each other's objects.
 */
export interface KeyvLike {
  /** The adapter, or the Map, that holds the data. */
  readonly store: unknown;
  /** The prefix of each key. */
  readonly namespace?: string | undefined;
  /** Returns the value of a key; undefined if there is none, or if it has expired. */
  get(key: string): Promise<unknown>;
  /**
   * Stores a value. Returns false if that has failed.
   * @param ttl milliseconds.
   */
  set(key: string, value: unknown, ttl: number): Promise<boolean>;
  /** Removes a value. Returns false if there was none. */
  delete(key: string): Promise<boolean>;
  /** Reports the failures of the adapter, for example of a connection. */
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

export function isKeyvLike(value: unknown): value is KeyvLike {
  return hasMethods(value, 'get', 'set', 'delete', 'on') && isStore((value as Partial<KeyvLike>).store);
}

/**
 * Returns true for a collection in this process: unlike the adapter of a server, it can be iterated or counted at once.
 */
export function isMapLike(store: object): boolean {
  return Symbol.iterator in store || typeof (store as { size?: unknown }).size === 'number';
}

/**
 * Returns the layers under a Keyv, the outermost first: Keyv 5 has one, the adapter or the Map; Keyv 6 puts an adapter
 * of its own around a Map, and around an adapter that was made for Keyv 5.
 */
export function layersUnder({ store }: KeyvLike): readonly [object, ...object[]] {
  const outer = store as object;
  const inner = (outer as Partial<KeyvLike>).store;
  return isStore(inner) ? [outer, inner] : [outer];
}

/** Returns the object that actually holds a Keyv's data. */
export function backingStoreOf(keyv: KeyvLike): object {
  const [outer, inner = outer] = layersUnder(keyv);
  return inner;
}

/** Returns the namespace of a Keyv; Keyv 6 leaves it to an adapter that has its own. */
export function namespaceOf(keyv: KeyvLike): string | undefined {
  const [adapter] = layersUnder(keyv);
  return keyv.namespace ?? (adapter as Partial<KeyvLike>).namespace;
}

/**
 * Returns the key under which `@keyv/redis` stores the value of a key. Keyv 5 may put its namespace in front before the
 * adapter puts its own.
 * @returns undefined for other adapters.
 */
export function keyOnRedis(keyv: KeyvLike, key: string): string | undefined {
  const adapter = backingStoreOf(keyv) as Partial<KeyvLike> & {
    createKeyPrefix?(key: string, namespace?: string): string;
  };
  const { useKeyPrefix = false, namespace } = keyv as KeyvLike & { readonly useKeyPrefix?: boolean };
  return adapter.createKeyPrefix?.(useKeyPrefix && namespace ? `${namespace}:${key}` : key, adapter.namespace);
}

const isStore = (value: unknown): value is object => hasMethods(value, 'get', 'set', 'delete');

function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every(name => typeof (value as Record<string, unknown>)[name] === 'function')
  );
}
