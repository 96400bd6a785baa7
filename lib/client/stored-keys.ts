import { Entries, type Entry } from './entries.js';
import { exclusive } from './exclusive.js';
import { operationChanged, storageFailed } from './fetch-error.js';
import { LONGEST_UNSEEN } from './marks.js';
import type { ResolvedOptions } from './options.js';
import { pageOf, setAndSweep, type Page } from './page.js';
import type { Operation } from './prepared-request.js';

/** The key of an operation, for one call. */
export interface OpenKey {
  readonly key: string;
  /** Whether an earlier call has begun the operation. */
  readonly isFound: boolean;
  /** Where the key is stored; undefined for a key that the application keeps itself. */
  readonly name?: string;
}

/** Milliseconds between two looks at a storage that does not show yet what another page has stored. */
const POLLING = 5;

/**
 * The keys of the operations that are not finished: in the storage, and as this page or process knows them. The storage
 * counts as long as it works, since other tabs and earlier pages write to it, too.
 */
export class StoredKeys {
  private readonly entries: Entries;

  constructor(private readonly options: ResolvedOptions) {
    this.entries = new Entries(options);
  }

  /**
   * Finds the key of an operation, or makes and stores a new one.
   * @param signal aborts when the caller no longer waits; a new key is removed then.
   * @throws IdempotentFetchError when the operation has an unfinished request with other values, or the storage fails.
   */
  open(operation: Operation, signal: AbortSignal): Promise<OpenKey> {
    const { name: given, digest } = operation;
    const name = given === undefined ? `${this.options.prefix}${digest}` : this.nameOf(given);
    return this.exclusive(name, async limit => {
      const throwIfLate = (): void => {
        signal.throwIfAborted();
        limit.throwIfAborted();
      };
      throwIfLate();
      const entry = await this.find(name, throwIfLate);
      if (entry && entry.digest !== digest) throw operationChanged(operation.name ?? digest, entry.key);
      const key = entry?.key ?? crypto.randomUUID();
      if (!entry) await this.write(name, { key, digest, until: this.expiry(), isJoined: false });
      else if (!entry.isJoined || entry.until > this.expiry()) await this.join(name, entry);
      if (!signal.aborted) return { key, name, isFound: entry !== undefined };
      if (!entry) await this.settle(name, key, false, limit);
      throw signal.reason;
    });
  }

  /**
   * Removes the key of a finished operation, unless the operation has begun anew, in another tab for example. A
   * definite answer stays one if the storage fails now: the key is not used again in this page or process.
   * @param isSettled false if all that is known is that the call itself ran nothing: another call with the key may
   * have.
   */
  async close({ name, key }: OpenKey, isSettled: boolean): Promise<void> {
    if (name !== undefined) await this.exclusive(name, limit => this.settle(name, key, isSettled, limit));
  }

  /** @throws the error of the storage, unless it never had the key. */
  async forget(operation: string): Promise<void> {
    const name = this.nameOf(operation);
    await this.exclusive(name, async () => {
      const known = this.page.open.get(name);
      this.page.open.delete(name);
      await this.entries.remove(name, known?.key).catch((cause: unknown) => {
        if (!known || known.isStored) throw cause;
      });
    });
  }

  private exclusive<T>(name: string, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
    return exclusive(this.options, name, work);
  }

  private get page(): Page {
    return pageOf(this.options.storage);
  }

  private nameOf(operation: string): string {
    return `${this.options.prefix}operation:${operation}`;
  }

  private expiry(): number {
    // JSON has no Infinity.
    return Math.min(Date.now() + this.options.keyLifetime, Number.MAX_SAFE_INTEGER);
  }

  /**
   * Finds the key of an unfinished operation. If another page has just stored one, it must show up in the storage,
   * unless that page has another storage.
   */
  private async find(name: string, throwIfLate: () => void): Promise<Entry | undefined> {
    const { keys, until } = await this.entries.unseen(name);
    for (;;) {
      const entry = await this.read(name);
      throwIfLate();
      const isSeen = keys.some(key => key === entry?.key || this.isFinished(key));
      if (isSeen || Date.now() >= until) return entry;
      await new Promise(resolve => setTimeout(resolve, POLLING));
    }
  }

  /** Finds the key of an unfinished operation. If the storage fails, this page may know it. */
  private async read(name: string): Promise<Entry | undefined> {
    const { open } = this.page;
    const stored = await this.tried(async () => ({ entry: await this.entries.get(name) }));
    const known = open.get(name);
    // One that was stored, and is stored no more, has been removed by another tab.
    const isRemoved = stored && known?.isStored && stored.entry?.key !== known.key;
    if (known && !isRemoved && this.isLive(known))
      return { ...known, isJoined: known.isJoined || (stored?.entry?.key === known.key && stored.entry.isJoined) };
    open.delete(name);
    return stored?.entry && this.isLive(stored.entry) ? stored.entry : undefined;
  }

  private isLive({ key, until }: Entry): boolean {
    return until > Date.now() && !this.isFinished(key);
  }

  private isFinished(key: string): boolean {
    return (this.page.finished.get(key) ?? 0) > Date.now();
  }

  /** @param until when no one can find the key any more, in milliseconds since 1970. */
  private finish(key: string, until: number): void {
    const { finished } = this.page;
    finished.delete(key);
    setAndSweep(finished, key, until, one => one);
  }

  private async write(name: string, entry: Entry): Promise<void> {
    const isStored = await this.tried(async () => {
      await this.entries.set(name, entry);
      return true;
    });
    setAndSweep(this.page.open, name, { ...entry, isStored: isStored ?? false }, ({ until }) => until);
  }

  /**
   * Notes that a second call has got the key, where the key is: the storage may have the key of another tab. A key that
   * would live for longer than a new one (the clock was ahead, or the lifetime longer) lives as long from now on.
   */
  private async join(name: string, { key, digest, until }: Entry): Promise<void> {
    const joined = { key, digest, until: Math.min(until, this.expiry()), isJoined: true };
    const known = this.page.open.get(name);
    if (known?.isStored === false) this.page.open.set(name, { ...joined, isStored: false });
    else await this.write(name, joined);
  }

  private async settle(name: string, key: string, isSettled: boolean, limit: AbortSignal): Promise<void> {
    const { open } = this.page;
    if (!isSettled) {
      const entry = await this.read(name);
      if (entry?.key !== key || entry.isJoined) return;
      // Another page has joined the operation, and this one may not see yet what it has stored.
      if ((await this.entries.unseen(name)).keys.includes(key)) return;
    }
    // First, because the storage may fail, or never answer. A key with which nothing has run may be used again then.
    if (isSettled) this.finish(key, this.expiry());
    if (open.get(name)?.key === key && (isSettled || !open.get(name)?.isStored)) open.delete(name);
    const isStored = (await this.entries.get(name))?.key === key;
    limit.throwIfAborted();
    if (isStored) await this.entries.remove(name, key);
    if (isSettled) this.finish(key, Date.now() + LONGEST_UNSEEN);
  }

  /** @returns undefined if the storage fails and `whenStorageFails` is `memory`. */
  private async tried<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (cause) {
      if (this.options.whenStorageFails === 'memory') return undefined;
      throw storageFailed(cause);
    }
  }
}
