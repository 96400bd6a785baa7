import { Keyv } from 'keyv';
import { LRUCache } from 'lru-cache';

/** Bytes of responses that the default store keeps; the least recently used give way. About 128 MiB. */
const MAX_BYTES = 134_217_728;
/** Milliseconds between two sweeps of expired responses. */
const SWEEP_INTERVAL = 30_000;

const DEFAULT = Symbol.for('bindonce.store');

/** The store of middlewares that name none: one in the process, bounded and swept. */
export function defaultStore(): Keyv {
  return (globalThis as { [DEFAULT]?: Keyv })[DEFAULT] ??= new Keyv({ store: new BoundedMap() });
}

/** What Keyv hands to a Map: serialised text (Keyv 5), or that text in an envelope (Keyv 6). */
type Entry = string | { readonly value: unknown };

/** A Map that forgets: Keyv's own keeps every expired entry until somebody asks for it. */
class BoundedMap {
  private readonly entries = new LRUCache<string, Entry>({
    maxSize: MAX_BYTES,
    sizeCalculation: (entry, key) => key.length + (typeof entry === 'string' ? entry : JSON.stringify(entry)).length,
  });
  private sweeping: NodeJS.Timeout | undefined;

  get size(): number { return this.entries.size; }
  get(key: string): Entry | undefined { return this.entries.get(key); }
  has(key: string): boolean { return this.entries.has(key); }
  delete(key: string): boolean { return this.entries.delete(key); }
  clear(): void { this.entries.clear(); }

  /** @param ttl milliseconds. */
  set(key: string, entry: Entry, ttl?: number): this {
    this.entries.set(key, entry, ttl === undefined ? {} : { ttl });
    this.sweeping ??= setInterval(() => { this.sweep(); }, SWEEP_INTERVAL).unref();
    return this;
  }

  private sweep(): void {
    this.entries.purgeStale();
    if (this.entries.size > 0) return;
    clearInterval(this.sweeping);
    this.sweeping = undefined;
  }
}
