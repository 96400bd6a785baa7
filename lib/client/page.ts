/**
 * A key that this page or process knows. A time here is one of `performance.now()`: a clock that is set forward, by the
 * network for example, must not end the key of an operation that may have run. (Where that time stands still while a
 * device sleeps, the key lives longer.)
 */
export interface KnownKey {
  readonly key: string;
  readonly digest: string;
  /** When the key expires. */
  readonly end: number;
  /** True if a second call has got the key. */
  readonly isJoined: boolean;
  /** False if the storage did not take it. */
  readonly isStored: boolean;
}

/** Knowledge of this page or process about the keys in one storage; it outlives a storage that fails. */
export interface Page {
  /** By name: keys of operations that are not finished. */
  readonly open: Map<string, KnownKey>;
  /** Keys of finished operations, with the end of the time in which one may still be found somewhere. */
  readonly finished: Map<string, number>;
  /** Changes of the storage that are under way, or whose effects are still to be repaired. */
  readonly changes: Set<{ readonly name: string }>;
}

interface Shared {
  /** The name of this page or process among others. (`crypto.randomUUID` is missing on pages that come over http.) */
  readonly id: string;
  /** By storage. */
  readonly pages: WeakMap<object, Page>;
  /** Stands for every storage of a page that is not steady. */
  readonly blocked: object;
  /** Entries that are kept without a storage, by name, and when each expires. */
  readonly items: Map<string, { readonly text: string; readonly end: number }>;
  /** By name. */
  readonly turns: Map<string, Turns>;
}

/** The last piece of work on one name, by storage. */
export type Turns = Map<unknown, Promise<unknown>>;

const SHARED = Symbol.for('bindonce.client');

/**
 * One for all clients, since a component may make one with each rendering, and for the ES module and the CommonJS
 * module of this package.
 */
export const shared: Shared = ((globalThis as { [SHARED]?: Shared })[SHARED] ??= {
  id: Math.random().toString(36).slice(2),
  pages: new WeakMap(),
  blocked: {},
  items: new Map(),
  turns: new Map(),
});

/** Returns true in a page of a browser, which has other pages, and one user. */
export const isPage = (): boolean => 'document' in globalThis;

export function pageOf(find: () => object): Page {
  // A page may make a function with each rendering, and all look for one storage. On a server, each may be for a user.
  const storage = steady(find) ?? (isPage() ? shared.blocked : find);
  const page: Page = shared.pages.get(storage) ?? { open: new Map(), finished: new Map(), changes: new Set() };
  shared.pages.set(storage, page);
  return page;
}

/**
 * Finds a storage that is one object with each use. Undefined where a function fails, or makes another object each
 * time.
 */
export function steady(find: () => unknown): object | undefined {
  try {
    const storage = find();
    return typeof storage === 'object' && storage !== null && storage === find() ? storage : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the time of `performance.now()` at a time in milliseconds since 1970, by the clock as it is set now. */
export const endAt = (until: number): number => performance.now() + until - Date.now();

/**
 * Sets a value, and removes the oldest ones that have expired. Those of operations that are never repeated would fill
 * the memory of a server.
 */
export function setAndSweep<T>(map: Map<string, T>, name: string, value: T, endOf: (value: T) => number): void {
  map.set(name, value);
  for (const [old, one] of map) {
    if (endOf(one) > performance.now()) break;
    map.delete(old);
  }
}
