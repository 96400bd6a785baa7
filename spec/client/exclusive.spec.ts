import { idempotentFetch, type KeyStorage } from '../../lib/client';
import { signal } from '../support/signal';
import { withGlobals } from './browser';
import { client, payment, service, Shelf } from './service';

describe('on a server', () => {
  /** Makes an object for the storage of one user, with methods that take some time. */
  const wrapped = (shelf: Shelf, ms: number): KeyStorage => {
    const later = async <T>(work: () => T): Promise<T> => {
      await new Promise(resolve => setTimeout(resolve, ms));
      return work();
    };
    return {
      getItem: name => later(() => shelf.getItem(name)),
      setItem: (name, value) =>
        later(() => {
          shelf.setItem(name, value);
        }),
      removeItem: name =>
        later(() => {
          shelf.removeItem(name);
        }),
    };
  };

  it.each([
    ['an object', (storage: KeyStorage) => storage],
    ['a function', (storage: KeyStorage) => () => storage],
  ])("a user's storage that does not answer, %s, holds up no other user", async (_title, given) => {
    const { url } = await service();
    const [read, answers, storage] = [signal(), signal(), new Shelf()];
    const getItem = async (): Promise<null> => {
      read.happens();
      await answers.happened;
      return null;
    };
    const stuck = client({ storage: given(Object.assign(new Shelf(), { getItem })), deadline: 60_000 });
    const paid = stuck(url, payment());
    await read.happened;
    expect((await client({ storage: given(storage) })(url, payment())).response.status).toBe(201);
    expect(storage.items.size).toBe(0);
    answers.happens();
    expect((await paid).response.status).toBe(201);
  });

  it.each<[string, number, (make: () => KeyStorage) => KeyStorage | (() => KeyStorage)]>([
    ['a function that makes an object with each use', 400, make => make],
    ['an object for each request', 10, make => make()],
  ])('calls at one time with one storage have one key: %s', async (_title, ms, given) => {
    const [shelf, done, removed] = [new Shelf(), signal(), signal()];
    shelf.removeItem = name => {
      shelf.items.delete(name);
      removed.happens();
    };
    const { url, keys, charges } = await service(
      [
        undefined,
        (_req, _res, next) => {
          done.happens();
          next();
        },
      ],
      { work: () => done.happened },
    );
    const pay = () => client({ storage: given(() => wrapped(shelf, ms)) })(url, payment());
    await Promise.all([pay(), pay()]);
    // An answer does not wait for it for ever.
    await removed.happened;
    expect([charges(), keys.length, new Set(keys).size, shelf.items.size]).toEqual([1, 2, 1, 0]);
  });
});

describe('where there are Web Locks', () => {
  /** Grants each lock at once, as to a single tab. */
  class LocksOfOneTab {
    readonly asked: string[] = [];
    readonly held: { name: string }[] = [];
    async request(name: string, { mode }: { mode: string }, work: () => Promise<unknown>): Promise<unknown> {
      if (mode === 'exclusive') this.asked.push(name);
      const lock = { name };
      this.held.push(lock);
      try {
        return await work();
      } finally {
        this.held.splice(this.held.indexOf(lock), 1);
      }
    }
    query(): Promise<object> {
      return Promise.resolve({ held: [...this.held] });
    }
  }

  const withLocks = (locks: object, work: () => Promise<unknown>): Promise<unknown> =>
    withGlobals({ navigator: { locks }, document: {} }, work);

  it.each([
    ['other tabs wait while a key is chosen and removed', { document: {} }, 2],
    ['so do other workers of a browser', { WorkerGlobalScope: {} }, 2],
    ['other threads of a server do not, because each user has a storage', {}, 0],
  ])('%s', async (_title, globals, count) => {
    const locks = new LocksOfOneTab();
    const { url } = await service();
    await withGlobals({ ...globals, navigator: { locks } }, async () => {
      await client()(url, { ...payment(), operation: 'cart 42' });
      await idempotentFetch()(url, { ...payment(), operation: 'in memory' });
    });
    expect(locks.asked).toEqual(Array.from({ length: count }, () => 'bindonce bindonce:operation:cart 42'));
  });

  it('a browser that refuses them is one without', async () => {
    const { url, charges } = await service();
    const refuse = () => Promise.reject(new DOMException('Access is denied', 'SecurityError'));
    await withLocks({ request: refuse, query: refuse }, () => client()(url, payment()));
    expect(charges()).toBe(1);
  });

  it('a storage that fails under a lock is not asked again', async () => {
    const getItem = jest.fn(() => Promise.reject(new Error('no')));
    await withLocks(new LocksOfOneTab(), async () => {
      const storage = Object.assign(new Shelf(), { getItem });
      await expect(client({ storage })('http://shop/', payment())).rejects.toMatchObject({ code: 'storage-failed' });
    });
    expect(getItem).toHaveBeenCalledTimes(1);
  });
});
