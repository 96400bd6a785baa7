import type { Entry } from './entries.js';
import { exclusive } from './exclusive.js';
import { operationChanged } from './fetch-error.js';
import type { ResolvedOptions } from './options.js';
import { PageEntries } from './page-entries.js';
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

/** The keys of the operations that are not finished. */
export class StoredKeys {
  private readonly entries: PageEntries;

  constructor(private readonly options: ResolvedOptions) {
    this.entries = new PageEntries(options);
  }

  /**
   * Finds the key of an operation, or makes and stores a new one.
   * @param signal aborts when the caller no longer waits; a new key is removed then.
   * @throws IdempotentFetchError when the operation has an unfinished request with other values, or the storage fails.
   */
  open(operation: Operation, signal: AbortSignal): Promise<OpenKey> {
    const { entries } = this;
    const { name: given, digest } = operation;
    const name = given === undefined ? `${this.options.prefix}${digest}` : this.nameOf(given);
    return exclusive(this.options, name, async limit => {
      signal.throwIfAborted();
      const entry = await this.find(name, limit, signal);
      if (entry && entry.digest !== digest) throw operationChanged(operation.name ?? digest, entry.key);
      const key = entry?.key ?? crypto.randomUUID();
      if (!entry) await entries.write(name, { key, digest, until: entries.expiry(), isJoined: false }, limit);
      else if (!entry.isJoined || entry.until > entries.expiry()) await entries.join(name, entry, limit);
      if (!signal.aborted) return { key, name, isFound: entry !== undefined };
      if (!entry) await entries.settle(name, key, false, limit);
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
    if (name === undefined) return;
    await exclusive(this.options, name, limit => this.entries.settle(name, key, isSettled, limit));
  }

  /** @throws the error of the storage, unless it never had the key. */
  async forget(operation: string): Promise<void> {
    const name = this.nameOf(operation);
    await exclusive(this.options, name, limit => this.entries.forget(name, limit));
  }

  private nameOf(operation: string): string {
    return `${this.options.prefix}operation:${operation}`;
  }

  /**
   * Finds the key of an unfinished operation. If another page has just stored one, it must show up in the storage,
   * unless that page has another storage.
   */
  private async find(name: string, limit: AbortSignal, signal: AbortSignal): Promise<Entry | undefined> {
    const { keys, until } = await this.entries.unseen(name);
    for (;;) {
      // Before it reads: if the page stands still afterwards, what it has read may be out of date.
      const isOver = Date.now() >= until;
      const entry = await this.entries.read(name, limit);
      signal.throwIfAborted();
      const isSeen = keys.some(key => key === entry?.key || this.entries.isFinished(key));
      if (isSeen || isOver) return entry;
      await new Promise(resolve => setTimeout(resolve, POLLING));
    }
  }
}
