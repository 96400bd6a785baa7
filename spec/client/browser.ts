import { AsyncLocalStorage } from 'node:async_hooks';
import type * as Client from '../../lib/client';

/** A page in a tab of a browser that specs play in one process. */
export interface Page {
  isOpen: boolean;
}

/** The page whose code runs: all have one `navigator` here. */
export const inPage = new AsyncLocalStorage<Page | undefined>();

/** Loads the client as a new page does: it knows nothing of other pages. */
export function loadClient(): typeof Client {
  delete (globalThis as { [name: symbol]: unknown })[Symbol.for('bindonce.client')];
  let client: typeof Client | undefined;
  jest.isolateModules(() => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- each page has an instance of its own.
    client = require('../../lib/client') as typeof Client;
  });
  return client as typeof Client;
}

/** Does something as a browser does it whose pages have these locks. */
export const withBrowser = <T>(locks: Locks, work: () => Promise<T>): Promise<T> =>
  withGlobals({ navigator: { locks }, document: {} }, work);

export async function withGlobals<T>(globals: Readonly<Record<string, unknown>>, work: () => Promise<T>): Promise<T> {
  const before = Object.keys(globals).map(name => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  try {
    return await work();
  } finally {
    for (const [name, descriptor] of before)
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
  }
}

/** Does something on clocks that stand still until they are set forward, as after a sleep. Timers do not heed them. */
export async function onClock<T>(work: (forward: (ms: number) => void) => Promise<T>): Promise<T> {
  const { performance: own } = globalThis;
  const [now, date] = [own.now(), Date.now()];
  let ahead = 0;
  const performance = { now: () => now + ahead, timeOrigin: own.timeOrigin };
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => date + ahead);
  const forward = (ms: number): void => {
    ahead += ms;
  };
  try {
    return await withGlobals({ performance }, () => work(forward));
  } finally {
    clock.mockRestore();
  }
}

interface Lock {
  readonly name: string;
  readonly isShared: boolean;
  readonly page: Page | undefined;
  readonly begin: () => void;
}

/** The Web Locks of all pages of one origin. */
export class Locks {
  private held: Lock[] = [];
  private waiting: Lock[] = [];

  request<T>(name: string, { mode }: { mode: string }, work: () => Promise<T>): Promise<T> {
    if (name.startsWith('-'))
      return Promise.reject(new DOMException('Names cannot start with "-"', 'NotSupportedError'));
    const page = inPage.getStore();
    return new Promise((resolve, reject) => {
      const lock: Lock = {
        name,
        isShared: mode === 'shared',
        page,
        begin: () => {
          const end = (): void => {
            this.release(one => one === lock);
          };
          inPage.run(page, work).finally(end).then(resolve, reject);
        },
      };
      this.waiting.push(lock);
      this.grant();
    });
  }

  query(): Promise<{ held: { name: string }[] }> {
    return Promise.resolve({ held: this.held.map(({ name }) => ({ name })) });
  }

  /** Closing a page releases its locks. */
  close(page: Page): void {
    this.release(lock => lock.page === page);
  }

  private release(isOver: (lock: Lock) => boolean): void {
    this.held = this.held.filter(lock => !isOver(lock));
    this.waiting = this.waiting.filter(lock => !isOver(lock));
    this.grant();
  }

  private grant(): void {
    for (const lock of this.waiting) {
      if (this.held.some(({ name, isShared }) => name === lock.name && !(isShared && lock.isShared))) continue;
      this.waiting = this.waiting.filter(one => one !== lock);
      this.held.push(lock);
      lock.begin();
    }
  }
}

/** A storage of an origin: what one page has written, the others see so many milliseconds later, in this order. */
export class Store {
  private readonly writes: { page: Page | undefined; name: string; value: string | null; at: number }[] = [];

  constructor(private readonly lateness = 0) {}

  /** The storage as a page sees it. */
  of(page: Page | undefined): Client.KeyStorage {
    const write = (name: string, value: string | null): void => {
      this.writes.push({ page, name, value, at: performance.now() });
    };
    return {
      getItem: name => {
        const now = performance.now();
        const seen = this.writes.filter(one => one.page === page || now - one.at >= this.lateness);
        return seen.findLast(one => one.name === name)?.value ?? null;
      },
      setItem: write,
      removeItem: name => {
        write(name, null);
      },
    };
  }
}
