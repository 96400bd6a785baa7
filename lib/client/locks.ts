/** The part of the Web Locks of an origin that is used here. */
interface Locks {
  request<T>(name: string, options: { readonly mode: 'exclusive' | 'shared' }, work: () => Promise<T>): Promise<T>;
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
}

/** Names a lock. Web Locks refuse names that begin with "-", as those of a storage may. */
export const lockName = (name: string): string => `bindonce ${name}`;

/** Returns the Web Locks; undefined in old browsers and before Node 24, and on pages that come over http. */
export const locks = (): Locks | undefined =>
  (globalThis as { readonly navigator?: { readonly locks?: Locks } }).navigator?.locks;
