import { IdempotentFetchError } from './error.js';
import type { KeyEntry } from './key-storage.js';
import type { ResolvedOptions } from './options.js';
import { checkName, type PreparedRequest } from './request.js';
import { within } from './time.js';

/** The key of an operation, for one call. */
export interface OpenKey {
  readonly key: string;
  /** Whether an earlier call may have begun the operation. */
  readonly isFound: boolean;
  /** Where the key is stored; undefined for a key that the application keeps itself. */
  readonly name?: string;
}

/** The longest that an answer waits for the storage to remove its key, in milliseconds. */
const LONGEST_REMOVAL = 1_500;

/** The keys of the operations that are not finished. */
export class Keys {
  /** What the storage did not take, with `whenStorageFails: 'memory'`. */
  private readonly refused = new Map<string, KeyEntry>();

  constructor(private readonly options: ResolvedOptions) {}

  /**
   * Finds the key of an operation, or makes and stores a new one.
   * @param ms how long the storage may take.
   * @throws IdempotentFetchError when the operation has an unfinished request with other values, or the storage fails;
   * the reason of the signal when it aborts.
   */
  async open(identity: PreparedRequest['identity'], ms: number, signal: AbortSignal | undefined): Promise<OpenKey> {
    if ('key' in identity) return { key: identity.key, isFound: true };
    const { name: operation, digest } = identity;
    const name = operation === undefined ? `${this.options.prefix}${digest}` : this.nameOf(operation);
    const key = crypto.randomUUID();
    // JSON has no Infinity.
    const until = Math.min(Date.now() + this.options.keyLifetime, Number.MAX_SAFE_INTEGER);
    const claim = this.claim(name, { key, digest, until });
    const entry = await within(ms, signal, () => claim).catch((cause: unknown) => {
      // Nothing is sent, so a new key must not stay, also if it is stored later than this.
      claim.then(() => this.close({ key, name }, false)).catch(() => undefined);
      signal?.throwIfAborted();
      throw new IdempotentFetchError(
        'storage-failed',
        'the storage failed, so nothing was sent: a key that is not stored would be lost with the page. With ' +
          "whenStorageFails: 'memory', the call continues without it if the storage throws.",
        { cause },
      );
    });
    if (entry.digest === digest) return { key: entry.key, name, isFound: entry.key !== key };
    throw new IdempotentFetchError(
      'operation-changed',
      `"${operation ?? digest}" has an unfinished request with other values, which may have run. Finish it with the ` +
        'values it began with, or call forget(operation) if it must not count.',
      { key: entry.key },
    );
  }

  /**
   * Removes the key of a finished operation, unless the operation has begun anew, in another tab for example. A
   * definite answer stays one if the storage fails now.
   * @param isSettled false if all that is known is that the call itself ran nothing: another call with the key may
   * have.
   */
  async close({ name, key }: Pick<OpenKey, 'key' | 'name'>, isSettled: boolean): Promise<void> {
    if (name === undefined) return;
    if (this.refused.get(name)?.key === key) this.refused.delete(name);
    const { storage } = this.options;
    const removed = Promise.resolve().then(() => storage.remove(name, key, !isSettled));
    await within(LONGEST_REMOVAL, undefined, () => removed).catch(() => undefined);
  }

  /** @throws IdempotentFetchError when the storage fails. */
  async forget(operation: string): Promise<void> {
    checkName('operation', operation);
    const { storage, deadline } = this.options;
    const name = this.nameOf(operation);
    this.refused.delete(name);
    try {
      await within(deadline, undefined, async () => {
        // One that has expired already: it only asks for the key.
        const { key } = await storage.claim(name, { key: '', digest: '', until: 0 });
        await storage.remove(name, key, false);
      });
    } catch (cause) {
      const message = `the storage failed, so the key of "${operation}" may still be there. Call forget() again.`;
      throw new IdempotentFetchError('storage-failed', message, { cause });
    }
  }

  private nameOf(operation: string): string {
    return `${this.options.prefix}operation:${operation}`;
  }

  private async claim(name: string, entry: KeyEntry): Promise<KeyEntry> {
    const earlier = this.refused.get(name);
    const offered = earlier && earlier.until > Date.now() ? earlier : entry;
    try {
      const claimed = await this.options.storage.claim(name, offered);
      this.refused.delete(name);
      return claimed;
    } catch (error) {
      if (this.options.whenStorageFails === 'reject') throw error;
      this.refused.set(name, offered);
      return offered;
    }
  }
}
