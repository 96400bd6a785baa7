import { oneInProcess } from '../../basics/process';
import { MAX_TIMER, objectWith } from '../../options/check';
import { BorrowedClient } from './redis/client';
import { nameOf, TextResponses, type ResponseStore } from './store';

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

export const isKeyvLike = (value: unknown): value is KeyvLike =>
  isStore(value) && typeof value.on === 'function' && isStore(value.store);

/**
 * Returns true for a collection in this process: unlike the adapter of a server, it can be iterated or counted at once.
 */
export const isMapLike = (store: object): boolean =>
  Symbol.iterator in store || typeof (store as { size?: unknown }).size === 'number';

/** A Keyv, or a layer under it; `@keyv/redis` has a method that puts a namespace in front of a key. */
type Layer = Partial<KeyvLike> & { throwOnErrors?: boolean; createKeyPrefix?(key: string, namespace?: string): string };

/**
 * Returns a Keyv and what is under it, the outermost first: in Keyv 5 the adapter or the Map; Keyv 6 puts an adapter of
 * its own around a Map, and around an adapter that was made for Keyv 5.
 */
function layersOf(keyv: KeyvLike): readonly Layer[] {
  const layers: Layer[] = [];
  for (let layer: unknown = keyv; isStore(layer); layer = layer.store) layers.push(layer);
  return layers;
}

/** Returns the object that actually holds a Keyv's data. */
export const backingStoreOf = (keyv: KeyvLike): Layer => layersOf(keyv).at(-1) ?? keyv;

/** The namespace that Keyv 5 takes if it is given none; Keyv 6 takes none. */
const DEFAULT_NAMESPACE = 'keyv';

/**
 * Returns the beginning of names in a store. The number is their version, and changes with what is stored under them;
 * the `clear()` of an `@keyv/redis` without a namespace spares names with `::`.
 */
export const prefixFor = (kind: 'lease' | 'response', namespace = DEFAULT_NAMESPACE): string =>
  `${namespace}:bindonce:1::${kind}:`;

/** Returns the namespace of a Keyv; Keyv 6 leaves it to an adapter that has its own. */
export const namespaceOf = (keyv: KeyvLike): string | undefined =>
  layersOf(keyv).find(({ namespace }) => namespace)?.namespace;

/**
 * Keyv 6 puts its namespace in front of the keys of `@keyv/valkey` itself, Keyv 5 gives it to the adapter; the same may
 * hold for the adapter of an application.
 * @throws TypeError if not the adapter alone has the namespace.
 */
function refuseOtherNames(keyv: KeyvLike, adapter: Layer): void {
  const hasNamespaceOfKeyv6 = layersOf(keyv)
    .slice(1, -1)
    .some(({ namespace }) => namespace);
  // The adapter of `@keyv/redis` names them the same under both.
  if (adapter.createKeyPrefix || (adapter.namespace && !hasNamespaceOfKeyv6)) return;
  throw new TypeError(
    `idempotency: store is a Keyv on ${adapter.constructor.name}, under which Keyv 5 and 6 give responses different ` +
      'names. Give the namespace to the adapter alone: ' +
      `adapter.namespace = ${JSON.stringify(namespaceOf(keyv) ?? DEFAULT_NAMESPACE)}; store = new Keyv(adapter).`,
  );
}

/**
 * Refuses a store that looks shared and is the memory of this process: up to Keyv 4, `new Keyv('redis://…')` was a Keyv
 * on Redis. (Keyv 5 shows the ignored address among its options, a text character by character; Keyv 6 does not.)
 * @throws TypeError
 */
export function refuseIgnoredAddress(keyv: KeyvLike): void {
  const { uri, url, 0: character } = Object((keyv as { opts?: unknown }).opts) as Readonly<Record<string, unknown>>;
  if (!isMapLike(backingStoreOf(keyv)) || !(uri ?? url ?? character)) return;
  // The message does not quote the address, which may contain a password.
  throw new TypeError(
    'idempotency: store is a Keyv in memory: Keyv 5 ignores the address that it was given, so processes would not ' +
      'share it. Write new Keyv(new KeyvRedis(address)), with KeyvRedis of @keyv/redis.',
  );
}

const isStore = (value: unknown): value is Layer => objectWith('', 'get', 'set', 'delete').accepts(value);

/** Shared by all copies of this module: two middlewares with one Keyv have equal options. */
const stores = oneInProcess('response-stores', () => new WeakMap<KeyvLike, ResponseStore>());

/** Returns the responses in a Keyv; the same object for every middleware that uses it. */
export function responsesIn(keyv: KeyvLike): ResponseStore {
  const responses = stores.get(keyv) ?? new KeyvResponses(keyv);
  stores.set(keyv, responses);
  return responses;
}

class KeyvResponses extends TextResponses {
  /** Number of failures that the Keyv has told. */
  private failures = 0;
  private readonly client: BorrowedClient | undefined;
  /**
   * Of the keys to pass to the Keyv. It starts with the namespace: Keyv 5 puts it in front of other keys before the
   * adapter puts it in front once more, Keyv 6 does not. For an adapter without a namespace, both are in it.
   */
  private readonly prefix: string;

  /**
   * Keyv hides failures by default: an outage would look like a missing response, and a failed write like a successful
   * one. Keyv 5 can be configured to throw; Keyv 6 cannot, but emits an event for each failure.
   */
  constructor(private readonly keyv: KeyvLike) {
    super();
    for (const layer of layersOf(keyv)) if ('throwOnErrors' in layer) layer.throwOnErrors = true;
    const adapter = backingStoreOf(keyv);
    this.client = BorrowedClient.of(adapter);
    if (this.client) refuseOtherNames(keyv, adapter);
    const prefix = prefixFor('response', namespaceOf(keyv));
    this.prefix = adapter.namespace ? prefix : (adapter.createKeyPrefix?.(prefix, DEFAULT_NAMESPACE) ?? prefix);
    keyv.on('error', () => this.failures++);
  }

  protected async read(cacheKey: string, token: string): Promise<unknown> {
    const { keyv, failures } = this;
    this.client?.checkOpen();
    const stored = await keyv.get(this.prefix + nameOf(cacheKey, token)).catch((error: unknown) => {
      // Text that is no JSON stays so.
      if (!(error instanceof SyntaxError)) throw error;
    });
    if (stored === undefined && this.failures > failures && !('throwOnErrors' in keyv))
      throw new Error("Keyv.get() failed. See the 'error' events of this Keyv.");
    return stored;
  }

  protected async write(cacheKey: string, token: string, text: string, ms: number): Promise<void> {
    this.client?.checkOpen();
    if (!(await this.keyv.set(this.prefix + nameOf(cacheKey, token), text, ms)))
      throw new Error("Keyv.set() returned false: the response was not stored. See the 'error' events of this Keyv.");
    // A Map keeps what has expired until it is read, and no request reads it any more.
    if (isMapLike(backingStoreOf(this.keyv)) && ms <= MAX_TIMER)
      setTimeout(() => void this.delete(cacheKey, token).catch(() => undefined), ms).unref();
  }

  async delete(cacheKey: string, token: string): Promise<void> {
    // A call of Keyv would open a client that is closed again, and the process would never end.
    this.client?.checkOpen();
    await this.keyv.delete(this.prefix + nameOf(cacheKey, token));
  }
}
