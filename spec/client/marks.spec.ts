import { signal } from '../support/signal';
import type * as Client from '../../lib/client';
import { LONGEST_UNSEEN } from '../../lib/client/marks';
import { inPage, loadClient, Locks, onClock, Store, withBrowser, withGlobals } from './browser';
import { answer, payment, service, Shelf } from './service';

/** Milliseconds until a page sees what another one has stored. */
const LATENESS = 300;
const NAME = 'bindonce:operation:cart 42';

interface Page {
  readonly seen: Client.KeyStorage;
  readonly pay: (url: string) => Promise<Client.IdempotentResult>;
}

/** Opens a page that pays for one cart. */
function openPage(
  storageOf: (page: { isOpen: boolean }) => Client.KeyStorage,
  module = loadClient(),
  options: Client.IdempotentFetchOptions = {},
): Page {
  const page = { isOpen: true };
  const seen = storageOf(page);
  const pay = module.idempotentFetch({ storage: seen, baseDelay: 1, ...options });
  return { seen, pay: url => inPage.run(page, () => pay(url, { ...payment(), operation: 'cart 42' })) };
}

const until = async (isTrue: () => unknown): Promise<void> => {
  while (!isTrue()) await new Promise(resolve => setTimeout(resolve, 5));
};

/** Ends a call: it gives up at once, and its operation may have run. */
const outage = answer(503, { 'Retry-After': '3600' });

describe('two pages with one storage, each of which sees late what the other has stored,', () => {
  const openPages = (options?: Client.IdempotentFetchOptions): [Page, Page] => {
    const store = new Store(LATENESS);
    const open = (): Page => openPage(page => store.of(page), loadClient(), options);
    return [open(), open()];
  };

  it.each([
    ['send one key', {}],
    ['send one key, whatever its name begins with', { prefix: '-shop:' }],
  ])('%s', async (_title, options) => {
    const { url, keys, charges } = await service([], { work: () => until(() => keys.length > 1) });
    await withBrowser(new Locks(), async () => {
      const [first, second] = openPages(options);
      const paid = first.pay(url);
      await until(() => keys.length > 0);
      await Promise.all([second.pay(url), paid]);
    });
    expect([charges(), new Set(keys).size]).toEqual([1, 1]);
  });

  it('send one key, also if one stands still after it has read the storage', async () => {
    const { url, keys, charges } = await service([], { work: () => until(() => keys.length > 1) });
    const payInBoth = async (forward: (ms: number) => void): Promise<void> => {
      const [first, second] = openPages();
      const paid = first.pay(url);
      await until(() => keys.length > 0);
      const { getItem } = second.seen;
      jest.spyOn(second.seen, 'getItem').mockImplementationOnce(name => {
        const text = getItem(name);
        forward(LONGEST_UNSEEN);
        return text;
      });
      await Promise.all([second.pay(url), paid]);
    };
    await onClock(forward => withBrowser(new Locks(), () => payInBoth(forward)));
    expect([charges(), new Set(keys).size]).toEqual([1, 1]);
  });

  it('keep the key that may have run in one when it has not run in the other', async () => {
    const hasGivenUp = signal();
    const { url, keys } = await service([
      (_req, res) => void hasGivenUp.happened.then(() => res.status(401).end()),
      outage,
    ]);
    await withBrowser(new Locks(), async () => {
      const [first, second] = openPages();
      const refused = first.pay(url);
      await until(() => keys.length > 0);
      await expect(second.pay(url)).rejects.toMatchObject({ code: 'gave-up' });
      hasGivenUp.happens();
      await refused;
      await second.pay(url);
    });
    expect(new Set(keys).size).toBe(1);
  });

  it('begin anew after an answer, at once, although the key is still to be seen', async () => {
    /** @returns what the second page saw of the key of the first, each time that it looked. */
    const payInBoth = async (): Promise<readonly unknown[]> => {
      const isSeen = signal();
      const { url, keys, charges } = await service([], { work: () => isSeen.happened });
      const looks: unknown[] = [];
      await withBrowser(new Locks(), async () => {
        const [first, second] = openPages();
        const paid = first.pay(url);
        await until(() => second.seen.getItem(NAME));
        isSeen.happens();
        await paid;
        const getItem = jest.spyOn(second.seen, 'getItem');
        await second.pay(url);
        looks.push(...getItem.mock.results.map(({ value }) => String(value).includes(`${keys[0]}`)));
      });
      expect(charges()).toBe(2);
      return looks;
    };
    let looks = await payInBoth();
    // If the machine stood still meanwhile, the key was no longer to be seen.
    while (!looks[0]) looks = await payInBoth();
    // Before its request, and after the answer.
    expect(looks).toEqual([true, false]);
  });

  it('do not remove the key of the next operation with an answer that comes late', async () => {
    const hasBegunNext = signal();
    const { url, keys } = await service([
      (_req, _res, next) => void hasBegunNext.happened.then(() => next()),
      undefined,
      outage,
    ]);
    await withBrowser(new Locks(), async () => {
      const [first, second] = openPages();
      const late = first.pay(url);
      await until(() => keys.length > 0);
      await second.pay(url);
      await expect(second.pay(url)).rejects.toMatchObject({ code: 'gave-up' });
      hasBegunNext.happens();
      await late;
      await new Promise(resolve => setTimeout(resolve, LATENESS));
      await second.pay(url);
    });
    expect(keys).toEqual([keys[0], keys[0], keys[2], keys[2]]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});

describe('two storages never share a key,', () => {
  /** Pays in both at one time. @returns the keys. */
  const race = async (first: Page, second: Page): Promise<readonly unknown[]> => {
    const { url, keys } = await service([], { work: () => until(() => keys.length > 1) });
    const paid = first.pay(url);
    await until(() => keys.length > 0);
    await Promise.all([second.pay(url), paid]);
    return keys;
  };

  it('those of two pages', async () => {
    await withBrowser(new Locks(), async () => {
      const keys = await race(
        openPage(() => new Shelf()),
        openPage(() => new Shelf()),
      );
      expect(new Set(keys).size).toBe(2);
    });
  });

  it.each<[string, object, boolean]>([
    ['two users of one page', { document: {} }, true],
    ['two users of one server', {}, true],
    ['two threads of a server', {}, false],
  ])('and %s do not wait for each other', async (_title, globals, isOnePage) => {
    await withGlobals({ ...globals, navigator: { locks: new Locks() } }, async () => {
      const module = loadClient();
      const first = openPage(() => new Shelf(), module);
      const second = openPage(() => new Shelf(), isOnePage ? module : loadClient());
      const getItem = jest.spyOn(second.seen, 'getItem');
      expect(new Set(await race(first, second)).size).toBe(2);
      // Before its request, and after the answer.
      expect(getItem).toHaveBeenCalledTimes(2);
    });
  });
});
