import { exclusive } from './exclusive.js';
import { IdempotentFetchError } from './fetch-error.js';
import type { ResolvedOptions } from './options.js';

/** The key of an unfinished operation, as it is stored. */
interface Entry {
  readonly key: string;
  readonly digest: string;
  /** When the operation began, in milliseconds since 1970. */
  readonly since: number;
  /** True if a second call has got the key. */
  readonly isJoined?: boolean;
}

/** The key of an operation, for one call. */
export interface OpenKey {
  readonly key: string;
  /** Whether an earlier call has begun the operation. */
  readonly isFound: boolean;
  /** Where the key is stored; undefined for a key that the application keeps itself. */
  readonly name?: string;
}

/** The keys of the operations that are not finished. */
export class StoredKeys {
  /** With `whenStorageFails: 'memory'`: entries that the storage did not take, or would not give back. */
  private readonly unstored = new Map<string, Entry>();
  private isReadable = true;
  /** Keys of finished operations that the storage did not remove, or that it did not show. */
  private readonly finished = new Set<string>();

  constructor(private readonly options: ResolvedOptions) {}

  /**
   * Finds the key of an operation, or makes and stores a new one.
   * @throws IdempotentFetchError when the operation has an unfinished request with other values, or the storage fails.
   */
  open(operation: string | undefined, digest: string): Promise<OpenKey> {
    const name = operation === undefined ? `${this.options.prefix}${digest}` : this.nameOf(operation);
    return this.exclusive(name, async () => {
      const entry = await this.read(name);
      if (!entry) {
        const key = crypto.randomUUID();
        await this.write(name, { key, digest, since: Date.now() });
        return { key, name, isFound: false };
      }
      if (entry.digest === digest) {
        if (!entry.isJoined) await this.write(name, { ...entry, isJoined: true }).catch(() => undefined);
        return { key: entry.key, name, isFound: true };
      }
      throw new IdempotentFetchError(
        'operation-changed',
        `"${operation ?? digest}" has an unfinished request with other values, which may have run. Finish it with the ` +
          'values it began with, or call forget(operation) if it must not count.',
        { key: entry.key },
      );
    });
  }

  /**
   * Removes the key of a finished operation, unless the operation has begun anew, in another tab for example.
   * @param isSettled false if all that is known is that the call itself ran nothing: another call with the key may have.
   */
  async close({ name, key }: OpenKey, isSettled: boolean): Promise<void> {
    if (name === undefined) return;
    await this.exclusive(name, async () => {
      const entry = await this.read(name).catch(() => undefined);
      if (!isSettled && entry?.isJoined) return;
      if (entry?.key === key) await this.remove(name, key);
      else if (!entry) this.finished.add(key);
    });
  }

  async forget(operation: string): Promise<void> {
    const name = this.nameOf(operation);
    await this.exclusive(name, async () => {
      const entry = await this.read(name);
      if (entry) await this.remove(name, entry.key);
    });
  }

  private exclusive<T>(name: string, work: () => Promise<T>): Promise<T> {
    return exclusive(name, this.options.isShared, work);
  }

  private nameOf(operation: string): string {
    return `${this.options.prefix}operation:${operation}`;
  }

  private async read(name: string): Promise<Entry | undefined> {
    const text = await this.tried(async () => (await this.options.storage.getItem(name)) ?? null);
    if (text === undefined) this.isReadable = false;
    const entry = this.unstored.get(name) ?? entryIn(text);
    const isLive = entry && !this.finished.has(entry.key) && Date.now() - entry.since < this.options.keyLifetime;
    return isLive ? entry : undefined;
  }

  private async write(name: string, entry: Entry): Promise<void> {
    const isStored = await this.tried(async () => {
      await this.options.storage.setItem(name, JSON.stringify(entry));
      return 'stored';
    });
    if (isStored === undefined || !this.isReadable) this.unstored.set(name, entry);
  }

  /** A definite answer stays one if the storage fails now: the key is not used again in this page or process. */
  private async remove(name: string, key: string): Promise<void> {
    this.unstored.delete(name);
    try {
      await this.options.storage.removeItem(name);
    } catch {
      this.finished.add(key);
    }
  }

  /** @returns undefined if the storage fails and `whenStorageFails` is `memory`. */
  private async tried<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (cause) {
      if (this.options.whenStorageFails === 'memory') return undefined;
      throw storageFailed(cause);
    }
  }
}

export function storageFailed(cause: unknown): IdempotentFetchError {
  return new IdempotentFetchError(
    'storage-failed',
    'the storage failed, so nothing was sent: a key that is not stored would be lost with the page. With ' +
      "whenStorageFails: 'memory', the call continues without it if the storage throws.",
    { cause },
  );
}

/** Reads an entry. Anything else under its name counts as none. */
function entryIn(text: string | null | undefined): Entry | undefined {
  try {
    const { key, digest, since, isJoined } = JSON.parse(text ?? 'null') as Entry;
    return typeof key === 'string' && typeof digest === 'string' && typeof since === 'number'
      ? { key, digest, since, isJoined: isJoined === true }
      : undefined;
  } catch {
    return undefined;
  }
}
