import { lockName, locks } from './locks.js';
import { isPage, shared } from './page.js';

/** Milliseconds within which each page sees what another one has stored; as a rule, it takes 50. */
export const LONGEST_UNSEEN = 1_000;

/** What a page has just done to the entry of an operation. */
export interface Mark {
  readonly change: 'stored' | 'erased';
  readonly key: string;
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly isOwn: boolean;
}

/**
 * Returns the locks of a page of a browser, undefined elsewhere: only pages have a storage, `localStorage`, that shows
 * late what others have written. Users of one server must not wait for each other.
 */
const locksOfPages = (): ReturnType<typeof locks> => (isPage() ? locks() : undefined);

/**
 * Tells the other pages of the origin what this one has written. In their `localStorage`, they may see it 50 ms later;
 * among the locks of the origin, they see it at once. No page takes a key from a mark, because the page that made the
 * mark may have another storage: a mark only says what a page will see soon if both have the same one.
 */
export function mark(name: string, change: Mark['change'], key: string): Promise<void> {
  return new Promise(resolve => {
    const hold = (): Promise<void> => {
      resolve();
      return new Promise(end => setTimeout(end, LONGEST_UNSEEN));
    };
    const text = lockName(`${name} ${change} ${key} ${Date.now()} ${shared.id}`);
    const held = locksOfPages()?.request(text, { mode: 'shared' }, hold) ?? Promise.resolve();
    held.then(resolve, resolve);
  });
}

/** Finds what this page and others have done in the last second. A page that is closed takes its marks with it. */
export async function marksOf(name: string): Promise<readonly Mark[]> {
  const found = await locksOfPages()
    ?.query()
    .catch(() => undefined);
  return (found?.held ?? []).flatMap(lock => markIn(name, lock.name ?? '') ?? []);
}

function markIn(name: string, text: string): Mark | undefined {
  if (!text.startsWith(lockName(`${name} `))) return undefined;
  const parts = /^ (stored|erased) ([\x21-\x7e]+) (\d+) (\w+)$/.exec(text.slice(lockName(name).length));
  if (!parts) return undefined;
  const [, change, key = '', at, page] = parts;
  return { change: change as Mark['change'], key, at: Number(at), isOwn: page === shared.id };
}
