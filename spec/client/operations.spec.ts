import type { RequestHandler } from 'express';
import { idempotentFetch, type KeyStorage } from '../../lib/client';
import { signal } from '../support/signal';
import { answer, client, payment, service } from './service';

/** A storage that a spec can look into, as a page finds `localStorage` after a reload. */
class Shelf implements KeyStorage {
  readonly items = new Map<string, string>();
  getItem(name: string): string | null {
    return this.items.get(name) ?? null;
  }
  setItem(name: string, value: string): void {
    this.items.set(name, value);
  }
  removeItem(name: string): void {
    this.items.delete(name);
  }
}

/** An answer after which a client whose deadline is near gives up. */
const outage = answer(503, { 'Retry-After': '3600' });

describe('the key of an operation', () => {
  it('is stored before the first attempt, and removed when the answer is definite', async () => {
    const storage = new Shelf();
    const seen: string[] = [];
    const { url, keys } = await service([
      (_req, _res, next) => {
        seen.push(...storage.items.values());
        next();
      },
    ]);
    await client({ storage, prefix: 'shop:' })(url, { ...payment(), operation: 'cart 42' });
    expect(seen.map(text => JSON.parse(text) as unknown)).toEqual([
      { key: keys[0], digest: expect.stringMatching(/^[\da-f]{64}$/) as string, since: expect.any(Number) as number },
    ]);
    expect(storage.items.size).toBe(0);
  });

  it('has the name of the operation, after the prefix', async () => {
    const storage = new Shelf();
    const { url } = await service([outage]);
    const pay = client({ storage, prefix: 'shop:' });
    await expect(pay(url, { ...payment(), operation: 'cart 42' })).rejects.toMatchObject({ code: 'gave-up' });
    expect([...storage.items.keys()]).toEqual(['shop:operation:cart 42']);
  });

  it.each([{ operation: 'cart 42' }, {}])('is the same after a reload: %j', async operation => {
    const storage = new Shelf();
    const { url, keys, charges } = await service([outage]);
    const request = { ...payment(), ...operation };
    await expect(client({ storage })(url, request)).rejects.toMatchObject({ code: 'gave-up' });
    const { response } = await client({ storage })(url, request);
    expect([response.status, charges(), new Set(keys).size, storage.items.size]).toEqual([201, 1, 1, 0]);
  });

  it('is the same in two calls at one time, as of a double click, and both get the one answer', async () => {
    const storage = new Shelf();
    const slow: KeyStorage = {
      // Long enough for both calls to look before either stores.
      getItem: async name => {
        const text = storage.getItem(name);
        await new Promise(resolve => setTimeout(resolve, 50));
        return text;
      },
      setItem: async (name, value) => Promise.resolve(storage.setItem(name, value)),
      removeItem: async name => Promise.resolve(storage.removeItem(name)),
    };
    const done = signal();
    const second: RequestHandler = (_req, _res, next) => {
      done.happens();
      next();
    };
    const { url, keys, charges } = await service([undefined, second], { work: () => done.happened });
    // Two pages, and so two clients, of one storage.
    const both = [client({ storage: slow }), client({ storage: slow })].map(pay => pay(url, payment()));
    const answers = await Promise.all(both);
    expect([charges(), keys.length, new Set(keys).size, storage.items.size]).toEqual([1, 2, 1, 0]);
    expect(answers.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
  });

  it('is another one for an equal request after a definite answer', async () => {
    const { url, keys, charges } = await service();
    const pay = client();
    for (let time = 0; time < 2; time++) await pay(url, { ...payment(), operation: 'cart 42' });
    expect([charges(), new Set(keys).size]).toEqual([2, 2]);
  });

  it('is not removed by a call that ends after the operation has begun anew', async () => {
    const storage = new Shelf();
    const later = signal();
    const { url, keys } = await service([
      (_req, res) => {
        void later.happened.then(() => res.status(201).end());
      },
      answer(201),
      outage,
    ]);
    const pay = client({ storage });
    const request = { ...payment(), operation: 'cart 42' };
    const first = pay(url, request);
    while (keys.length === 0) await new Promise(resolve => setTimeout(resolve, 5));
    await pay(url, request);
    await expect(pay(url, request)).rejects.toMatchObject({ code: 'gave-up' });
    later.happens();
    await first;
    expect([keys[0] === keys[1], keys[1] === keys[2], storage.items.size]).toEqual([true, false, 1]);
    expect(storage.getItem('bindonce:operation:cart 42')).toContain(keys[2]);
  });

  it('is not used again once its lifetime is over', async () => {
    const { url, keys } = await service([outage]);
    const pay = client({ keyLifetime: 50 });
    await expect(pay(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await new Promise(resolve => setTimeout(resolve, 60));
    await pay(url, payment());
    expect(new Set(keys).size).toBe(2);
  });

  it.each(['reject', 'memory'] as const)(
    'is not used again if the storage fails while it is removed (%s)',
    async whenStorageFails => {
      let isBroken = false;
      class Failing extends Shelf {
        override getItem(name: string): string | null {
          if (isBroken) throw new Error('The storage is not available');
          return super.getItem(name);
        }
      }
      const { url, keys } = await service([
        (_req, _res, next) => {
          isBroken = true;
          next();
        },
      ]);
      const pay = client({ storage: new Failing(), whenStorageFails });
      await pay(url, payment());
      isBroken = false;
      await pay(url, payment());
      expect(new Set(keys).size).toBe(2);
    },
  );

  it.each<[string, unknown, string]>([
    ['key', '', '""'],
    ['key', ' ', '" "'],
    ['key', null, 'null'],
    ['operation', '', '""'],
    ['operation', { id: 42 }, 'an object'],
  ])('cannot have the %s %j', async (name, value, shown) => {
    const { url, keys } = await service();
    await expect(client()(url, { ...payment(), [name]: value })).rejects.toThrow(
      new TypeError(`idempotentFetch: ${name} must be text that is not blank, not ${shown}`),
    );
    expect(keys).toEqual([]);
  });

  it('that the application keeps itself is sent as it is, and not stored', async () => {
    const storage = { getItem: jest.fn(), setItem: jest.fn(), removeItem: jest.fn() };
    const { url, keys } = await service([answer(503)]);
    const { key } = await client({ storage })(url, { ...payment(), key: 'order-42' });
    expect([key, keys]).toEqual(['order-42', ['order-42', 'order-42']]);
    expect(Object.values(storage).flatMap(({ mock }) => mock.calls)).toEqual([]);
  });
});

describe('an operation that may have run keeps its key', () => {
  it.each([401, 403, 500])('when the answer is a %d, which does not tell', async status => {
    const { url, keys } = await service([answer(503), answer(status)]);
    const pay = client();
    expect((await pay(url, payment())).response.status).toBe(status);
    await pay(url, payment());
    expect(new Set(keys).size).toBe(1);
  });

  it('when the answer is the page to which it was redirected', async () => {
    const { url, keys } = await service([
      answer(503),
      (_req, res) => {
        res.redirect('/login');
      },
      answer(200, {}, 'Please log in'),
    ]);
    const pay = client();
    expect((await pay(url, payment())).response.redirected).toBe(true);
    await pay(url, payment());
    expect([keys[0], keys[1]]).toEqual([keys[3], keys[3]]);
  });

  it('when another call has joined it, and only this one was refused', async () => {
    const storage = new Shelf();
    const [refused, done] = [signal(), signal()];
    const { url, keys } = await service([
      (_req, res) => {
        void refused.happened.then(() => res.status(401).end());
      },
      (_req, res) => {
        void done.happened.then(() => res.status(503).set('Retry-After', '3600').end());
      },
    ]);
    const [first, second] = [client({ storage }), client({ storage })];
    const one = first(url, payment());
    while (keys.length < 1) await new Promise(resolve => setTimeout(resolve, 5));
    const other = second(url, payment());
    while (keys.length < 2) await new Promise(resolve => setTimeout(resolve, 5));
    refused.happens();
    expect((await one).response.status).toBe(401);
    done.happens();
    await expect(other).rejects.toMatchObject({ code: 'gave-up' });
    await client({ storage })(url, payment());
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  it('when an earlier page has begun it, too', async () => {
    const storage = new Shelf();
    const { url, keys } = await service([outage, answer(401)]);
    await expect(client({ storage })(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await client({ storage })(url, payment());
    expect(storage.items.size).toBe(1);
    await client({ storage })(url, payment());
    expect([new Set(keys).size, storage.items.size]).toEqual([1, 0]);
  });

  it('when its response is lost: a new key would run it again', async () => {
    const lost = JSON.stringify({ type: 'urn:bindonce:response-unavailable' });
    const { url, keys } = await service([
      answer(502),
      answer(409, { 'Content-Type': 'application/problem+json; charset=utf-8' }, lost),
    ]);
    const pay = client();
    expect((await pay(url, payment())).response.status).toBe(409);
    await pay(url, payment());
    expect(new Set(keys).size).toBe(1);
  });

  it.each([
    [401, [answer(401)]],
    [401, [answer(429), answer(401)]],
    [400, [answer(503), answer(400)]],
    [422, [answer(503), answer(422)]],
  ])('but not after a %d that does tell', async (status, trouble) => {
    const { url, keys } = await service(trouble);
    const pay = client();
    expect((await pay(url, payment())).response.status).toBe(status);
    await pay(url, payment());
    expect(new Set(keys).size).toBe(2);
  });
});

describe('an unfinished operation whose request has changed', () => {
  it('is an error before anything is sent, until it is forgotten', async () => {
    const { url, keys, charges } = await service([outage]);
    const pay = client();
    await expect(pay(url, { ...payment('4.50'), operation: 'cart 42' })).rejects.toMatchObject({ code: 'gave-up' });
    await expect(pay(url, { ...payment('5.00'), operation: 'cart 42' })).rejects.toMatchObject({
      code: 'operation-changed',
      key: keys[0],
      attempts: 0,
      message:
        'idempotentFetch: "cart 42" has an unfinished request with other values, which may have run. Finish it with the ' +
        'values it began with, or call forget(operation) if it must not count.',
    });
    expect(keys.length).toBe(1);
    await pay.forget('cart 42');
    await pay(url, { ...payment('5.00'), operation: 'cart 42' });
    expect([charges(), new Set(keys).size]).toEqual([1, 2]);
  });

  it('does not concern other operations', async () => {
    const { url, keys } = await service([outage]);
    const pay = client();
    await expect(pay(url, { ...payment(), operation: 'cart 42' })).rejects.toMatchObject({ code: 'gave-up' });
    await pay(url, { ...payment(), operation: 'cart 43' });
    await pay(url, payment());
    await pay.forget('cart 44');
    expect(new Set(keys).size).toBe(3);
  });
});

describe('a storage that fails', () => {
  const full = new DOMException('There is no room', 'QuotaExceededError');
  const fails = (): never => {
    throw full;
  };

  it.each<[string, Partial<KeyStorage>]>([
    ['to read', { getItem: fails }],
    ['to store', { setItem: fails }],
    ['to store, later', { setItem: () => Promise.reject(full) }],
  ])('%s ends the call before anything is sent', async (_title, broken) => {
    const { url, keys } = await service();
    const storage = Object.assign(new Shelf(), broken);
    await expect(client({ storage })(url, payment())).rejects.toMatchObject({ code: 'storage-failed', cause: full });
    expect(keys).toEqual([]);
  });

  it('to answer ends the call at the deadline', async () => {
    const storage = Object.assign(new Shelf(), { getItem: () => new Promise<never>(() => undefined) });
    const paid = client({ storage, deadline: 50 })('http://shop/', { ...payment(), operation: 'never' });
    await expect(paid).rejects.toMatchObject({ code: 'storage-failed', cause: { name: 'TimeoutError' } });
  });

  it.each<[string, Partial<KeyStorage>]>([
    ['to read', { getItem: fails }],
    ['to store', { setItem: fails }],
  ])("%s is replaced by memory with whenStorageFails: 'memory'", async (_title, broken) => {
    const { url, keys, charges } = await service([outage]);
    const storage = Object.assign(new Shelf(), broken);
    const pay = client({ storage, whenStorageFails: 'memory' });
    await expect(pay(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await pay(url, payment());
    await pay(url, payment());
    expect([charges(), keys[0] === keys[1], keys[1] === keys[2]]).toEqual([2, true, false]);
  });

  it('to remove does not take a definite answer away, and the key is not used again', async () => {
    const { url, keys, charges } = await service();
    const pay = client({ storage: Object.assign(new Shelf(), { removeItem: fails }) });
    for (let time = 0; time < 2; time++) expect((await pay(url, payment())).response.status).toBe(201);
    expect([charges(), new Set(keys).size]).toEqual([2, 2]);
  });

  it.each(['', 'x', '{}', '[]', 'null', '{"key":1,"digest":"a","since":1}'])(
    'to be ours counts as empty: %j',
    async text => {
      const { url, charges } = await service();
      const storage = Object.assign(new Shelf(), { getItem: () => text });
      expect([(await client({ storage })(url, payment())).replayed, charges()]).toEqual([false, 1]);
    },
  );
});

it('where there are Web Locks, other tabs wait while a key is chosen', async () => {
  const { url } = await service();
  const locked: string[] = [];
  const request = (name: string, work: () => Promise<unknown>): Promise<unknown> => {
    locked.push(name);
    return work();
  };
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  Object.defineProperty(globalThis, 'navigator', { value: { locks: { request } }, configurable: true });
  try {
    await idempotentFetch({ storage: new Shelf() })(url, { ...payment(), operation: 'cart 42' });
    await idempotentFetch()(url, { ...payment(), operation: 'in memory' });
  } finally {
    if (before) Object.defineProperty(globalThis, 'navigator', before);
    else delete (globalThis as { navigator?: unknown }).navigator;
  }
  expect(locked).toEqual(['bindonce:operation:cart 42', 'bindonce:operation:cart 42']);
});
