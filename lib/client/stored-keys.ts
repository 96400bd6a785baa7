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
  /**
   * What is stored, where, and since when the call has it, by `performance.now()`; undefined for a key that the
   * application keeps itself.
   */
  readonly stored?: { readonly name: string; readonly entry: Entry; readonly since: number };
}

/**
 * What a call knows of its operation when it ends.
 * - `settled`: the outcome.
 * - `nothing-ran`: the call itself has run nothing; another call with the key may have.
 * - `unknown`: the operation may have run.
 */
export type Ending = 'settled' | 'nothing-ran' | 'unknown';

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
      const found = await this.find(name, limit, signal);
      if (found && found.digest !== digest) throw operationChanged(operation.name ?? digest, found.key);
      const entry = found ?? { key: crypto.randomUUID(), digest, until: entries.expiry(), isJoined: false };
      if (!found) await entries.write(name, entry, limit);
      else if (!found.isJoined || found.until > entries.expiry()) await entries.join(name, found, limit);
      const stored = { name, entry, since: performance.now() };
      if (!signal.aborted) return { key: entry.key, isFound: found !== undefined, stored };
      if (!found) await entries.settle(name, entry.key, false, limit);
      throw signal.reason;
    });
  }

  /**
   * Removes the key of a finished operation, unless the operation has begun anew, in another tab for example. A
   * definite answer stays one if the storage fails now: the key is not used again in this page or process. Without an
   * outcome, the key is kept, also if another call has got the answer and removed it.
   */
  async close({ stored }: OpenKey, ending: Ending): Promise<void> {
    if (!stored) return;
    const { name, entry, since } = stored;
    await exclusive(this.options, name, async limit => {
      if (ending !== 'settled' && !(await this.find(name, limit, limit)))
        await this.entries.storeAgain(name, entry, since, limit);
      if (ending !== 'unknown') await this.entries.settle(name, entry.key, ending === 'settled', limit);
    });
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
      const entry = await this.entries.read(name, limit);
      signal.throwIfAborted();
      const isSeen = keys.some(key => key === entry?.key || this.entries.isFinished(key));
      if (isSeen || Date.now() >= until) return entry;
      await new Promise(resolve => setTimeout(resolve, POLLING));
    }
  }
}
