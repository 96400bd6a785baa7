import type { RequestHandler } from 'express';
import { LONGEST_UNSEEN } from '../../lib/client/marks';
import { signal } from '../support/signal';
import { Locks, withBrowser } from './browser';
import { answer, client, payment, service, Shelf } from './service';

type Method = 'getItem' | 'setItem' | 'removeItem';

/** Delays the next call of a method, once asked: it takes effect when it lands, and returns when it is answered. */
function delayNext(storage: Shelf, method: Method) {
  const [asked, lands, answered] = [signal(), signal(), signal()];
  const original = Shelf.prototype[method] as (...args: string[]) => unknown;
  jest.spyOn(storage, method as 'getItem').mockImplementationOnce((async (...args: string[]) => {
    asked.happens();
    await lands.happened;
    const result = original.apply(storage, args);
    await answered.happened;
    return result;
  }) as never);
  return { asked: asked.happened, lands: lands.happens, answered: answered.happens };
}

/** Lets everything happen that waits for nothing else. */
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** An answer after which a client gives up. */
const outage = answer(503, { 'Retry-After': '3600' });
const request = { ...payment(), operation: 'cart 42' };
/** The deadline of a call whose storage is late. */
const deadline = 300;

/** Returns the outcome of a call whose deadline passes when its storage has been asked. */
async function atDeadline(call: Promise<unknown>, asked: Promise<void>): Promise<unknown> {
  const outcome = call.catch((error: unknown) => error);
  await asked;
  jest.advanceTimersByTime(deadline);
  return outcome;
}

describe('a storage that answers after the deadline', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  describe.each<[string, Method, readonly (RequestHandler | undefined)[], object]>([
    ['stores the key of a call that has failed', 'setItem', [], { code: 'storage-failed' }],
    ['removes the key of a purchase that is answered', 'removeItem', [undefined], { attempts: 1 }],
  ])('%s, and the next purchase keeps its key', (_title, method, trouble, outcome) => {
    /** Begins the next purchase while the storage still changes the key of an earlier one. */
    const begin = async (outages: readonly RequestHandler[]) => {
      const { url, keys } = await service([...trouble, ...outages]);
      const storage = new Shelf();
      const { asked, lands, answered } = delayNext(storage, method);
      expect(await atDeadline(client({ storage, deadline })(url, request), asked)).toMatchObject(outcome);
      const purchase = () => expect(client({ storage })(url, request)).rejects.toMatchObject({ code: 'gave-up' });
      await purchase();
      const purchaseAfterReload = async () => {
        await client({ storage: storage.reloaded() })(url, request);
        const own = keys.slice(trouble.length);
        return { calls: own.length, keys: new Set(own).size, stored: storage.items.size };
      };
      return { lands, answered, purchase, purchaseAfterReload };
    };

    it('in the page, before the storage has told', async () => {
      const { lands, answered, purchase, purchaseAfterReload } = await begin([outage, outage, outage]);
      lands();
      await purchase();
      answered();
      await purchase();
      expect(await purchaseAfterReload()).toEqual({ calls: 4, keys: 1, stored: 0 });
    });

    it('and after a reload', async () => {
      const { lands, answered, purchaseAfterReload } = await begin([outage]);
      lands();
      answered();
      await settled();
      expect(await purchaseAfterReload()).toEqual({ calls: 2, keys: 1, stored: 0 });
    });
  });

  it('removes the key of a call that ran nothing, and the next one keeps it', async () => {
    const { url, keys } = await service([answer(401), outage, outage]);
    const storage = new Shelf();
    // In a page, what is removed is marked for other pages.
    await withBrowser(new Locks(), async () => {
      const { asked, lands, answered } = delayNext(storage, 'removeItem');
      const paid = client({ storage, deadline })(url, request);
      expect(await atDeadline(paid, asked)).toMatchObject({ response: { status: 401 } });
      const pay = client({ storage });
      await expect(pay(url, request)).rejects.toMatchObject({ code: 'gave-up' });
      lands();
      answered();
      await settled();
      await expect(pay(url, request)).rejects.toMatchObject({ code: 'gave-up' });
    });
    await client({ storage: storage.reloaded() })(url, request);
    expect([keys.length, keys[2] === keys[1], keys[3] === keys[1]]).toEqual([4, true, true]);
  });

  it('does not keep a key that was never sent', async () => {
    const { url, charges } = await service();
    const storage = new Shelf();
    const { asked, lands, answered } = delayNext(storage, 'setItem');
    const late = client({ storage, deadline })(url, { ...payment('4.50'), operation: 'cart 42' });
    expect(await atDeadline(late, asked)).toMatchObject({ code: 'storage-failed' });
    // The turn of the call is over when another one has had its turn.
    await client({ storage }).forget('cart 42');
    lands();
    answered();
    await settled();
    await client({ storage: storage.reloaded() })(url, { ...payment('5.00'), operation: 'cart 42' });
    expect([charges(), storage.items.size]).toEqual([1, 0]);
  });

  it('does not bring back the key of a finished purchase, long after its answer', async () => {
    const done = signal();
    const { url, keys, charges } = await service([], { work: () => done.happened });
    const storage = new Shelf();
    const first = client({ storage })(url, request);
    while (keys.length === 0) await settled();
    const { asked, lands, answered } = delayNext(storage, 'setItem');
    const second = client({ storage, deadline })(url, request);
    expect(await atDeadline(second, asked)).toMatchObject({ code: 'storage-failed' });
    done.happens();
    await first;
    jest.advanceTimersByTime(LONGEST_UNSEEN + 100);
    lands();
    answered();
    await settled();
    await client({ storage: storage.reloaded() })(url, request);
    expect([charges(), new Set(keys).size, storage.items.size]).toEqual([2, 2, 0]);
  });

  it('does not make the page forget a key', async () => {
    const { url, keys } = await service([outage]);
    const storage = new Shelf();
    const { asked, lands, answered } = delayNext(storage, 'getItem');
    lands();
    const late = client({ storage, deadline })(url, request);
    expect(await atDeadline(late, asked)).toMatchObject({ code: 'storage-failed' });
    const pay = client({ storage, whenStorageFails: 'memory' });
    await expect(pay(url, request)).rejects.toMatchObject({ code: 'gave-up' });
    answered();
    await settled();
    storage.getItem = () => {
      throw new Error('The storage is not available');
    };
    await pay(url, request);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });
});
