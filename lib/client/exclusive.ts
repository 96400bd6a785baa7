interface Locks {
  request<T>(name: string, work: () => Promise<T>): Promise<T>;
}

const last = new Map<string, Promise<unknown>>();

/**
 * Runs the pieces of work on one name one after another: in this page or process, and if they are shared, in all tabs
 * of the origin where there are Web Locks. Without, two tabs that begin an operation in the same instant may take two
 * keys.
 */
export function exclusive<T>(name: string, isShared: boolean, work: () => Promise<T>): Promise<T> {
  const locked = (): Promise<T> => (isShared ? locks()?.request(name, work) : undefined) ?? work();
  const mine = (last.get(name) ?? Promise.resolve()).then(locked, locked);
  last.set(name, mine);
  const forget = (): void => {
    if (last.get(name) === mine) last.delete(name);
  };
  mine.then(forget, forget);
  return mine;
}

/** Web Locks are missing in old browsers and before Node 24, and on pages that come over http. */
function locks(): Locks | undefined {
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: Locks } };
  return navigator?.locks;
}
