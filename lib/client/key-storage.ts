/// <reference lib="dom" />
/** The key of an unfinished operation, as it is stored. */
export interface KeyEntry {
  readonly key: string;
  /** Hash of the request. */
  readonly digest: string;
  /** When the key expires, in milliseconds since 1970. */
  readonly until: number;
}

/** A place for keys. Each method is one atomic step, for all pages or processes that share the place. */
export interface KeyStorage {
  /**
   * Returns the entry that is stored under a name, unless it has expired (`until`); else stores the one that was given,
   * and returns it.
   */
  claim(name: string, entry: KeyEntry): KeyEntry | Promise<KeyEntry>;
  /**
   * Removes the entry that is stored under a name, if it has this key.
   * @param ifAlone true: only if no other `claim` has returned it meanwhile. A storage that cannot tell keeps it.
   */
  remove(name: string, key: string, ifAlone: boolean): unknown;
}

/** An entry, and whether a second call has got it. */
type Claimed = KeyEntry & { readonly isShared?: boolean };

/** Puts another entry in the place of the one under a name, or removes it, in one step. @returns the other one. */
type Change = <T extends Claimed | undefined>(name: string, next: (found?: Claimed) => T) => Promise<T>;

const isLive = (entry?: Claimed): entry is Claimed => entry !== undefined && entry.until > Date.now();

const storageOf = (change: Change): KeyStorage => ({
  claim: (name, entry) => change(name, found => (isLive(found) ? { ...found, isShared: true } : entry)),
  remove: (name, key, ifAlone) =>
    change(name, found => (found?.key === key && !(ifAlone && found.isShared) ? undefined : found)),
});

const ENTRIES = Symbol.for('bindonce.client');
/** One for the ES module and the CommonJS module of this package. */
const entries = ((globalThis as { [ENTRIES]?: Map<string, Claimed> })[ENTRIES] ??= new Map<string, Claimed>());

const changeInMemory: Change = (name, next) => {
  const entry = next(entries.get(name));
  // Those of operations that are never repeated would fill the memory of a server.
  for (const [one, { until }] of entries) if (one === name || until <= Date.now()) entries.delete(one);
  if (entry) entries.set(name, entry);
  return Promise.resolve(entry);
};

/** Keeps keys as long as this page or process lives. */
export const memory = storageOf(changeInMemory);

const KEYS = 'keys';

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('bindonce', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(KEYS);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(new Error('IndexedDB cannot be opened', { cause: opening.error }));
  });
}

function warned(cause: unknown): null {
  console.warn(
    'bindonce/client keeps its keys in memory, because there is no IndexedDB: a retry after a reload or a restart ' +
      "may run its operation a second time. Pass a `storage`, or storage: 'memory' if that is meant.",
    cause,
  );
  return null;
}

/**
 * Opens an IndexedDB for the first time: null if there is none, or the browser blocks it. Found out once: a page that
 * has keys in IndexedDB must not go on without them.
 */
let first: Promise<unknown> | undefined;

/** IndexedDB, which all tabs share: the browser runs their transactions one after another. Else memory. */
export const ofThisPage = storageOf(async (name, next) => {
  first ??= open().then(database => database.close(), warned);
  if ((await first) === null) return changeInMemory(name, next);
  // Opened for each step: Safari closes a database whose page was in the background.
  const database = await open();
  return new Promise<ReturnType<typeof next>>((resolve, reject) => {
    const transaction = database.transaction(KEYS, 'readwrite', { durability: 'strict' });
    const store = transaction.objectStore(KEYS);
    const reading = store.get(name) as IDBRequest<Claimed | undefined>;
    // Nothing is awaited before it writes: a transaction ends when it has nothing to do.
    reading.onsuccess = () => {
      const entry = next(reading.result);
      if (entry) store.put(entry, name);
      else store.delete(name);
      transaction.oncomplete = () => resolve(entry);
    };
    transaction.onabort = () => reject(new Error('IndexedDB has not stored it', { cause: transaction.error }));
  }).finally(() => database.close());
});

/** Keeps in memory what a storage does not take, until it takes it. */
export const orMemory = (storage: KeyStorage): KeyStorage => ({
  async claim(name, entry) {
    const offered = await memory.claim(name, entry);
    const claim = Promise.resolve().then(() => storage.claim(name, offered));
    const claimed = await claim.catch(() => undefined);
    if (claimed) await memory.remove(name, offered.key, false);
    return claimed ?? offered;
  },
  async remove(name, key, ifAlone) {
    await memory.remove(name, key, ifAlone);
    await storage.remove(name, key, ifAlone);
  },
});
