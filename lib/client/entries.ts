import { LONGEST_UNSEEN, mark, marksOf, type Mark } from './marks.js';
import { shown, type ResolvedOptions } from './options.js';

/** The key of an unfinished operation, as it is stored. A full storage takes `isJoined` for its shorter `true`. */
export interface Entry {
  readonly key: string;
  readonly digest: string;
  /** When the key expires, in milliseconds since 1970. */
  readonly until: number;
  /** True if a second call has got the key. */
  readonly isJoined: boolean;
}

/**
 * Keys that another page has just stored, and that this page may not see yet. It sees them at `until`, unless that page
 * has another storage.
 */
export interface Unseen {
  readonly keys: readonly string[];
  /** In milliseconds since 1970. */
  readonly until: number;
}

/** The entries in the storage. What this page writes is marked, because other pages may see it late. */
export class Entries {
  constructor(private readonly options: ResolvedOptions) {}

  /** Reads an entry, unless another page has erased it, which this one may not see yet. */
  async get(name: string): Promise<Entry | undefined> {
    const text: unknown = await this.options.storage().getItem(name);
    if (text !== undefined && text !== null && typeof text !== 'string')
      throw new TypeError(`The storage must return the text that it was given, not ${shown(text)}`);
    const entry = entryIn(text);
    const isErased = ({ key, change }: Mark): boolean => key === entry?.key && change === 'erased';
    return entry && (await this.marks(name)).some(isErased) ? undefined : entry;
  }

  /** @param limit that of the turn. A change that outlasts it is not marked: a later turn may have the key. */
  async set(name: string, { key, digest, until, isJoined }: Entry, limit: AbortSignal): Promise<void> {
    await this.options.storage().setItem(name, JSON.stringify({ key, digest, until, isJoined }));
    limit.throwIfAborted();
    await this.mark(name, 'stored', key);
  }

  /**
   * @param key that of the entry; undefined if it is not known.
   * @param limit as of `set`.
   */
  async remove(name: string, key: string | undefined, limit: AbortSignal): Promise<void> {
    const storage = this.options.storage();
    try {
      await storage.removeItem(name);
    } catch {
      limit.throwIfAborted();
      await storage.setItem(name, '');
    }
    limit.throwIfAborted();
    if (key !== undefined) await this.mark(name, 'erased', key);
  }

  async unseen(name: string): Promise<Unseen> {
    const marks = await this.marks(name);
    const erased = marks.filter(({ change }) => change === 'erased').map(({ key }) => key);
    const unseen = marks.filter(({ key, change, isOwn }) => change === 'stored' && !isOwn && !erased.includes(key));
    const until = Math.max(...unseen.map(({ at }) => Math.min(at, Date.now()) + LONGEST_UNSEEN));
    return { keys: unseen.map(({ key }) => key), until };
  }

  private async marks(name: string): Promise<readonly Mark[]> {
    return this.isSeenLate ? marksOf(name) : [];
  }

  private async mark(name: string, change: Mark['change'], key: string): Promise<void> {
    if (this.isSeenLate) await mark(name, change, key);
  }

  /** True if pages may see late what others write. */
  private get isSeenLate(): boolean {
    return this.options.isShared && !isOfThisTab(this.options.storage);
  }
}

function isOfThisTab(find: () => unknown): boolean {
  try {
    return find() === (globalThis as { readonly sessionStorage?: unknown }).sessionStorage;
  } catch {
    return false;
  }
}

/** Reads an entry. Any other text under its name counts as none. */
function entryIn(text: string | null | undefined): Entry | undefined {
  try {
    const { key, digest, until, isJoined } = JSON.parse(text ?? 'null') as Record<keyof Entry, unknown>;
    return isKey(key) && typeof digest === 'string' && typeof until === 'number'
      ? { key, digest, until, isJoined: isJoined === true }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns true for text that a header can carry. */
const isKey = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
