import { Keyv } from 'keyv';
import { LRUCache } from 'lru-cache';
import { SweepInterval } from '../stores/sweep-interval';

/** Bytes of responses that the default store keeps; the least recently used are evicted. 128 MiB. */
const MAX_BYTES = 134_217_728;
/** Bytes of an entry besides its key and text, as measured. */
const ENTRY_BYTES = 230;
/** Milliseconds between two sweeps of expired responses. */
const SWEEP_INTERVAL = 30_000;

const DEFAULT = Symbol.for('bindonce.store');

/** Returns the store of all middlewares without a `store` option: one in the process, bounded and swept. */
export function defaultStore(): Keyv {
  return ((globalThis as { [DEFAULT]?: Keyv })[DEFAULT] ??= new Keyv({ store: new BoundedMap() }));
}

/** The value that Keyv stores in a Map: serialised text (Keyv 5), or an object with that text (Keyv 6). */
type Entry = string | { readonly value: unknown };

/**
 * Copies the text: Keyv concatenates it, and V8 keeps the pieces, which take several times as many bytes as the whole.
 */
function flat(entry: Entry): Entry {
  if (typeof entry === 'string') return Buffer.from(entry).toString();
  return typeof entry.value === 'string' ? { ...entry, value: flat(entry.value) } : entry;
}

/** A Map that is bounded and swept: Keyv's own keeps every expired entry until it is read. */
export class BoundedMap {
  private readonly entries = new LRUCache<string, Entry>({
    maxSize: MAX_BYTES,
    sizeCalculation: (entry, key) =>
      ENTRY_BYTES + key.length + (typeof entry === 'string' ? entry : JSON.stringify(entry)).length,
  });
  private readonly sweeping = new SweepInterval(SWEEP_INTERVAL, () => this.sweep());

  get size(): number {
    return this.entries.size;
  }
  get(key: string): Entry | undefined {
    return this.entries.get(key);
  }
  has(key: string): boolean {
    return this.entries.has(key);
  }
  delete(key: string): boolean {
    return this.entries.delete(key);
  }
  clear(): void {
    this.entries.clear();
  }

  /** @param ttl milliseconds. */
  set(key: string, entry: Entry, ttl?: number): this {
    this.entries.set(key, flat(entry), ttl === undefined ? {} : { ttl });
    this.sweeping.start();
    return this;
  }

  private sweep(): boolean {
    this.entries.purgeStale();
    return this.entries.size > 0;
  }
}
