import { CallTime } from './call-time.js';
import { lockName, locks } from './locks.js';
import type { ResolvedOptions } from './options.js';
import { isPage, shared, steady, type Turns } from './page.js';

/**
 * The longest that a piece of work waits for those of other storages, in milliseconds. They may be other objects for
 * the same storage, such as one for each request to a server; but users of one server must not depend on each other.
 */
const LONGEST_FOR_OTHERS = 250;

/**
 * Runs the pieces of work on one name in one storage one after another: in this page or process, and if it is shared,
 * in all tabs of the origin where there are Web Locks. Without, two tabs that begin an operation in the same instant
 * may take two keys, and so may two processes of a server.
 * @param work its signal aborts after the deadline, and the next piece may begin.
 */
export function exclusive<T>(
  { storage, isShared, deadline }: ResolvedOptions,
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limited = (): Promise<T> => new CallTime(deadline, undefined).within(deadline, work);
  const turn = (): Promise<T> => (isShared && isBrowser() ? locked(name, limited) : limited());
  const turns = shared.turns.get(name) ?? new Map<unknown, Promise<unknown>>();
  shared.turns.set(name, turns);
  // All storages of a page count as one, and so do those that are not steady.
  const owner = isPage() ? undefined : steady(storage);
  const mine = earlier(turns, owner).then(turn);
  turns.set(owner, mine);
  const forget = (): void => {
    if (turns.get(owner) === mine) turns.delete(owner);
    if (turns.size === 0 && shared.turns.get(name) === turns) shared.turns.delete(name);
  };
  mine.then(forget, forget);
  return mine;
}

async function earlier(turns: Turns, owner: unknown): Promise<void> {
  const others = [...turns].flatMap(([one, turn]) => (one === owner ? [] : [turn]));
  await turns.get(owner)?.catch(() => undefined);
  if (others.length === 0) return;
  const time = new CallTime(LONGEST_FOR_OTHERS, undefined);
  await time.within(LONGEST_FOR_OTHERS, () => Promise.allSettled(others)).catch(() => undefined);
}

/** Returns true in a page or a worker of a browser, which has one user. Node has Web Locks, too, for all its users. */
const isBrowser = (): boolean => isPage() || 'WorkerGlobalScope' in globalThis;

function locked<T>(name: string, work: () => Promise<T>): Promise<T> {
  let begun: Promise<T> | undefined;
  const once = (): Promise<T> => (begun ??= work());
  // A browser that blocks the storage of a page refuses its locks, too.
  return locks()?.request(lockName(name), { mode: 'exclusive' }, once).catch(once) ?? once();
}
