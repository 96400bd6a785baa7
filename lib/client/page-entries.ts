import { Entries, type Entry, type Unseen } from './entries.js';
import { exclusive } from './exclusive.js';
import { storageFailed } from './fetch-error.js';
import { LONGEST_UNSEEN } from './marks.js';
import type { ResolvedOptions } from './options.js';
import { endAt, pageOf, setAndSweep, type KnownKey, type Page } from './page.js';

/**
 * The entries of unfinished operations: in the storage, and as this page or process knows them. The storage counts as
 * long as it works, since other tabs and earlier pages write to it, too.
 *
 * Each method is part of a turn, and takes its limit. When the limit has aborted, later turns may have begun: a method
 * throws then before it touches what the page knows.
 */
export class PageEntries {
  private readonly entries: Entries;

  constructor(private readonly options: ResolvedOptions) {
    this.entries = new Entries(options);
  }

  /** Finds the entry of an unfinished operation. If the storage fails, this page may know it. */
  async read(name: string, limit: AbortSignal): Promise<Entry | undefined> {
    const { open } = this.page;
    const stored = await this.tried(async () => ({ entry: await this.entries.get(name) }));
    limit.throwIfAborted();
    const known = open.get(name);
    // One that was stored, and is stored no more, has been removed by another tab, unless a late change destroyed it.
    const isRemoved = stored && known?.isStored && stored.entry?.key !== known.key && !this.isChangedLate(name);
    if (known && !isRemoved && this.isLive(known)) {
      const isJoined = known.isJoined || (stored?.entry?.key === known.key && stored.entry.isJoined);
      return { ...entryOf(known), isJoined };
    }
    open.delete(name);
    return stored?.entry && this.isLive(knownOf(stored.entry)) ? stored.entry : undefined;
  }

  async write(name: string, entry: Entry, limit: AbortSignal): Promise<void> {
    const known = knownOf(entry);
    const isStored = await this.tried(async () => {
      await this.change(name, entry.key, limit, () => this.entries.set(name, entry, limit));
      return true;
    });
    limit.throwIfAborted();
    setAndSweep(this.page.open, name, { ...known, isStored: isStored ?? false }, ({ end }) => end);
  }

  /**
   * Notes that a second call has got the key, where the key is: the storage may have the key of another tab. A key that
   * would live for longer than a new one (the clock was ahead, or the lifetime longer) lives as long from now on.
   */
  async join(name: string, { key, digest, until }: Entry, limit: AbortSignal): Promise<void> {
    const joined = { key, digest, until: Math.min(until, this.expiry()), isJoined: true };
    const known = this.page.open.get(name);
    if (known?.isStored === false) this.page.open.set(name, { ...knownOf(joined), isStored: false });
    else await this.write(name, joined, limit);
  }

  /** Removes a key, unless the operation has begun anew, or, if the key is not settled, a second call has it. */
  async settle(name: string, key: string, isSettled: boolean, limit: AbortSignal): Promise<void> {
    const { open } = this.page;
    if (!isSettled) {
      const entry = await this.read(name, limit);
      if (entry?.key !== key || entry.isJoined) return;
      // Another page has joined the operation, and this one may not see yet what it has stored.
      if ((await this.unseen(name)).keys.includes(key)) return;
      limit.throwIfAborted();
    }
    // First, because the storage may fail, or never answer. A key with which nothing has run may be used again then.
    if (isSettled) this.finish(key, this.options.keyLifetime);
    if (open.get(name)?.key === key && (isSettled || !open.get(name)?.isStored)) open.delete(name);
    const isStored = (await this.entries.get(name))?.key === key;
    limit.throwIfAborted();
    if (isStored) await this.change(name, key, limit, () => this.entries.remove(name, key, limit));
    if (open.get(name)?.key === key) open.delete(name);
    if (isSettled && !this.isChangedLate(name)) this.finish(key, LONGEST_UNSEEN);
  }

  /** @throws the error of the storage, unless it never had the key. */
  async forget(name: string, limit: AbortSignal): Promise<void> {
    const known = this.page.open.get(name);
    this.page.open.delete(name);
    const removed = this.change(name, known?.key, limit, () => this.entries.remove(name, known?.key, limit));
    await removed.catch((cause: unknown) => {
      if (!known || known.isStored) throw cause;
    });
  }

  unseen(name: string): Promise<Unseen> {
    return this.entries.unseen(name);
  }

  /** Returns the time until which a new key lives, in milliseconds since 1970. */
  expiry(): number {
    // JSON has no Infinity.
    return Math.min(Date.now() + this.options.keyLifetime, Number.MAX_SAFE_INTEGER);
  }

  isFinished(key: string): boolean {
    return (this.page.finished.get(key) ?? 0) > performance.now();
  }

  private get page(): Page {
    return pageOf(this.options.storage);
  }

  private isLive({ key, end }: Pick<KnownKey, 'key' | 'end'>): boolean {
    return end > performance.now() && !this.isFinished(key);
  }

  /** @param ms after which no one can find the key any more. */
  private finish(key: string, ms: number): void {
    const { finished } = this.page;
    finished.delete(key);
    setAndSweep(finished, key, performance.now() + ms, end => end);
  }

  /**
   * Lets the storage write or remove an entry. If that outlasts the turn, it may destroy the entry of a later turn:
   * until that one is restored, the page counts, and not the storage.
   */
  private async change(
    name: string,
    key: string | undefined,
    limit: AbortSignal,
    work: () => Promise<void>,
  ): Promise<void> {
    const { changes } = this.page;
    const change = { name };
    changes.add(change);
    const end = (): unknown => changes.delete(change);
    try {
      await work();
    } finally {
      if (!limit.aborted) end();
      else this.restore(name, key).then(end, () => undefined);
    }
    limit.throwIfAborted();
  }

  /** Returns true while a change of an earlier turn is under way. (A turn waits for its own changes.) */
  private isChangedLate(name: string): boolean {
    return [...this.page.changes].some(change => change.name === name);
  }

  /** Makes the storage agree with the page after a late change. @param key that of the changed entry. */
  private restore(name: string, key: string | undefined): Promise<void> {
    return exclusive(this.options, name, async limit => {
      const stored = await this.entries.get(name);
      limit.throwIfAborted();
      const known = this.page.open.get(name);
      if (known?.isStored && this.isLive(known)) {
        // Any other key is that of another tab.
        const isDestroyed = !stored || (stored.key === key && key !== known.key);
        if (isDestroyed) await this.write(name, entryOf(known), limit);
      } else if (key !== undefined && stored?.key === key) await this.settle(name, key, this.isFinished(key), limit);
    });
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

/** Returns what a page knows of a key, by the clock as it is set now. */
function knownOf({ key, digest, until, isJoined }: Entry): Omit<KnownKey, 'isStored'> {
  return { key, digest, end: endAt(until), isJoined };
}

/** Returns what is stored of a key, by the clock as it is set now. */
function entryOf({ key, digest, end, isJoined }: KnownKey): Entry {
  return { key, digest, until: Math.round(Date.now() + end - performance.now()), isJoined };
}
