import { CallTime } from './call-time.js';
import { locks } from './locks.js';
import { shared } from './page.js';

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
