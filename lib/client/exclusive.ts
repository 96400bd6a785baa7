import { CallTime } from './call-time.js';
import { shared } from './page.js';

interface Locks {
  request<T>(name: string, options: { readonly mode: 'exclusive' | 'shared' }, work: () => Promise<T>): Promise<T>;
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
}

/** Web Locks are missing in old browsers and before Node 24, and on pages that come over http. */
const locks = (): Locks | undefined =>
  (globalThis as { readonly navigator?: { readonly locks?: Locks } }).navigator?.locks;

/**
 * Runs the pieces of work on one name one after another: in this page or process, and if they are shared, in all tabs
 * of the origin where there are Web Locks. Without, two tabs that begin an operation in the same instant may take two
 * keys.
 * @param limit milliseconds after which the signal of the work aborts, and the next piece may begin.
 */
export function exclusive<T>(
  name: string,
  isShared: boolean,
  limit: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { turns } = shared;
  const limited = (): Promise<T> => new CallTime(limit, undefined).within(limit, work);
  const turn = (): Promise<T> => (isShared ? locked(name, limited) : limited());
  const mine = (turns.get(name) ?? Promise.resolve()).then(turn, turn);
  turns.set(name, mine);
  const forget = (): void => {
    if (turns.get(name) === mine) turns.delete(name);
  };
  mine.then(forget, forget);
  return mine;
}

function locked<T>(name: string, work: () => Promise<T>): Promise<T> {
  let begun: Promise<T> | undefined;
  const once = (): Promise<T> => (begun ??= work());
  // A browser that blocks the storage of a page refuses its locks, too.
  return locks()?.request(name, { mode: 'exclusive' }, once).catch(once) ?? once();
}

/**
 * Makes a mark that other tabs see, if there are Web Locks. What one tab writes to `localStorage`, another may see 50 ms
 * later only, but locks at once.
 * @returns a function that removes the mark. It is gone with the page, too.
 */
export function mark(name: string): Promise<() => void> {
  const nothing = (): void => undefined;
  return new Promise(resolve => {
    const holding = locks()?.request(name, { mode: 'shared' }, () => new Promise<void>(resolve));
    if (holding) {
      holding.catch(() => {
        resolve(nothing);
      });
    } else resolve(nothing);
  });
}

/** Returns the marks that begin with a text. */
export async function marksOf(text: string): Promise<readonly string[]> {
  const { held = [] } =
    (await locks()
      ?.query()
      .catch(() => undefined)) ?? {};
  return held.flatMap(({ name = '' }) => (name.startsWith(text) ? [name] : []));
}
