import type { RequestHandler } from 'express';
import { idempotentFetch, type IdempotentFetch, type KeyStorage } from '../../lib/client';
import { signal } from '../support/signal';
import { withGlobals } from './browser';
import { answer, client, payment, service, Shelf } from './service';

/** An answer after which a client whose deadline is near gives up. */
const outage = answer(503, { 'Retry-After': '3600' });

/** Calls until the storage was asked: if the machine stands still before that, a call ends with another error. */
async function errorOf(call: () => Promise<unknown>, isAsked: () => boolean): Promise<unknown> {
  for (;;) {
    const error = await call().catch((thrown: unknown) => thrown);
    if (isAsked()) return error;
  }
}

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
      {
        key: keys[0],
        digest: expect.stringMatching(/^[\da-f]{64}$/) as string,
        until: expect.any(Number) as number,
        isJoined: false,
      },
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
    const { response } = await client({ storage: storage.reloaded() })(url, request);
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

  it('is the same in all clients of a page that has no storage', async () => {
    const { url, keys } = await service([outage]);
    // As a component that makes one with each rendering.
    const clientOfPage = () => idempotentFetch({ baseDelay: 1 });
    await expect(clientOfPage()(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await clientOfPage()(url, payment());
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
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

  it.each([
    ['a call that is aborted', 'AbortError', { signal: true, deadline: 30_000 }],
    ['a call whose deadline passes', 'IdempotentFetchError', { signal: false, deadline: 50 }],
  ])('is not kept by %s before anything is sent', async (_title, name, { signal: isAborted, deadline }) => {
    const { url, keys } = await service();
    const storage = new Shelf();
    const stored = signal();
    const controller = new AbortController();
    const slow: KeyStorage = {
      getItem: name => storage.getItem(name),
      setItem: async (name, value) => {
        if (isAborted) controller.abort();
        await stored.happened;
        storage.setItem(name, value);
      },
      removeItem: name => {
        storage.removeItem(name);
      },
    };
    const request = { operation: 'cart 42', signal: controller.signal };
    const paid = client({ storage: slow, deadline })(url, { ...payment('4.50'), ...request });
    await expect(paid).rejects.toMatchObject({ name });
    const next = client({ storage })(url, { ...payment('5.00'), operation: 'cart 42' });
    stored.happens();
    await next;
    expect([keys.length, storage.items.size]).toEqual([1, 0]);
  });

  it('is not removed by a client without storage that does not know it', async () => {
    const storage = new Shelf();
    let isBlocked = true;
    const blocked: KeyStorage = {
      getItem: name => storage.getItem(name),
      setItem: (name, value) => {
        if (isBlocked) throw new Error('There is no room');
        storage.setItem(name, value);
      },
      removeItem: name => {
        storage.removeItem(name);
      },
    };
    const { url, keys } = await service([outage, outage]);
    const request = { ...payment(), operation: 'cart 42' };
    const alone = client({ storage: blocked, whenStorageFails: 'memory' });
    await expect(alone(url, request)).rejects.toMatchObject({ code: 'gave-up' });
    await expect(client({ storage })(url, request)).rejects.toMatchObject({ code: 'gave-up' });
    isBlocked = false;
    await alone(url, request);
    expect([keys[0] === keys[2], keys[0] === keys[1], storage.items.size]).toEqual([true, false, 1]);
  });

  /** Gives up. @returns the storage of the next page, in which the key is stored with other facts. */
  const unfinished = async (url: string, facts: object): Promise<Shelf> => {
    const storage = new Shelf();
    await expect(client({ storage })(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    for (const [name, text] of storage.items)
      storage.setItem(name, JSON.stringify({ ...(JSON.parse(text) as object), ...facts }));
    return storage.reloaded();
  };

  it('is not used again if it has expired', async () => {
    const { url, keys } = await service([outage]);
    const storage = await unfinished(url, { until: Date.now() - 1 });
    await client({ storage })(url, payment());
    expect(new Set(keys).size).toBe(2);
  });

  it.each([
    ['the clock has been set back', 32_000, false],
    ['the clock has been set back since a second call', 32_000, true],
    ['the lifetime has become shorter', 86_400_000, false],
  ])('is used again if %s, and lives no longer than a new one', async (_title, msLeft, isJoined) => {
    const { url, keys } = await service([outage, outage]);
    const storage = await unfinished(url, { until: Date.now() + msLeft, isJoined });
    const pay = client({ storage, keyLifetime: 30_000 });
    await expect(pay(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    const [text = ''] = storage.items.values();
    expect((JSON.parse(text) as { until: number }).until).toBeLessThanOrEqual(Date.now() + 30_000);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });

  it.each([
    ['a storage', new Shelf()],
    ['the memory of the page', undefined],
  ])('is used again if the clock has been set forward meanwhile, with %s', async (_title, storage) => {
    const { url, keys, charges } = await service([outage, outage, outage]);
    const pay = (): Promise<unknown> => idempotentFetch({ ...(storage && { storage }), baseDelay: 1 })(url, payment());
    await expect(pay()).rejects.toMatchObject({ code: 'gave-up' });
    const now = Date.now() + 172_800_000;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    try {
      // The next key is one at which the memory gives expired ones up.
      await expect(idempotentFetch()(url, payment('1.00'))).rejects.toMatchObject({ code: 'gave-up' });
      await expect(pay()).rejects.toMatchObject({ code: 'gave-up' });
      if (storage) await client({ storage: storage.reloaded() })(url, payment());
      else await pay();
    } finally {
      jest.restoreAllMocks();
    }
    expect([charges(), keys[0] === keys[2], keys[2] === keys[3]]).toEqual([1, true, true]);
  });

  it('is used for ever if its lifetime is Infinity', async () => {
    const { url, keys } = await service([outage]);
    const pay = client({ keyLifetime: Infinity });
    await expect(pay(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await pay(url, payment());
    expect(new Set(keys).size).toBe(1);
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
  const problem = (status: number, type: string): RequestHandler =>
    answer(status, { 'Content-Type': 'application/problem+json' }, JSON.stringify({ type }));
  const keyProblem = (code: string): RequestHandler => problem(400, `urn:bindonce:${code}`);

  it.each([401, 403, 404, 405, 407, 410, 421, 426, 431, 500])(
    'when the answer is a %d, which does not tell',
    async status => {
      const statuses = [503, status, 201];
      const keys: (string | null)[] = [];
      // That of Node repeats a request once after a 421, and takes a 407 for a broken connection.
      const answers: typeof fetch = (_url, init) => {
        const key = new Headers(init?.headers).get('Idempotency-Key');
        return Promise.resolve(new Response(null, { status: statuses[keys.push(key) - 1] ?? 201 }));
      };
      const pay = client({ fetch: answers });
      expect((await pay('http://shop/', payment())).response.status).toBe(status);
      await pay('http://shop/', payment());
      expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    },
  );

  it.each(['key-missing', 'key-repeated', 'key-malformed'])(
    'when its key did not arrive as it was sent: %s',
    async code => {
      const { url, keys } = await service([answer(503), keyProblem(code)]);
      const pay = client();
      expect((await pay(url, payment())).response.status).toBe(400);
      await pay(url, payment());
      expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    },
  );

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

  it('when the answer is a redirect that is not followed', async () => {
    const { url, keys } = await service([answer(503), answer(302, { Location: '/login' })]);
    const pay = client();
    expect((await pay(url, { ...payment(), redirect: 'manual' })).response.status).toBe(302);
    await pay(url, payment());
    expect(new Set(keys).size).toBe(1);
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
    await client({ storage: storage.reloaded() })(url, payment());
    expect(storage.items.size).toBe(1);
    await client({ storage: storage.reloaded() })(url, payment());
    expect([new Set(keys).size, storage.items.size]).toEqual([1, 0]);
  });

  it('when its response is lost: a new key would run it again', async () => {
    const problem = JSON.stringify({ type: 'urn:bindonce:response-unavailable' });
    const lost = answer(409, { 'Content-Type': 'Application/Problem+JSON; charset=utf-8' }, problem);
    for (const trouble of [[lost], [answer(502), lost]]) {
      const { url, keys } = await service(trouble);
      const pay = client();
      expect((await pay(url, payment())).response.status).toBe(409);
      await pay(url, payment());
      expect(new Set(keys).size).toBe(1);
    }
  });

  it.each(
    ['https://example.com/errors#idem-', 'urn:acme-', 'urn:acme_', 'urn:acme2', 'urn:acme'].flatMap(base => [
      [409, `${base}response-unavailable`] as const,
      [422, `${base}key-reused`] as const,
      [400, `${base}key-malformed`] as const,
    ]),
  )('when the code of a problem follows any character: %d %s', async (status, type) => {
    const { url, keys } = await service([answer(502), problem(status, type)]);
    const pay = client();
    expect((await pay(url, payment())).response.status).toBe(status);
    await pay(url, payment());
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  it.each([500, 501, 507])('when the first answer is a %d of a gateway, behind which it has run', async status => {
    const storage = new Shelf();
    const { url, keys, charges } = await service();
    const gateway: typeof fetch = async (...request) => {
      await fetch(...request);
      return new Response(null, { status });
    };
    const first = await client({ storage, fetch: gateway })(url, payment());
    expect([first.response.status, first.attempts, charges()]).toEqual([status, 1, 1]);
    const again = await client({ storage: storage.reloaded() })(url, payment());
    expect([again.response.status, again.replayed, charges()]).toEqual([201, true, 1]);
    expect([new Set(keys).size, storage.items.size]).toEqual([1, 0]);
  });

  it('after a 500 of its handler, which a later call gets again: the call after that is another operation', async () => {
    const { url, keys } = await service([], { work: charge => (charge === 1 ? 500 : 201) });
    const pay = client();
    const results = [await pay(url, payment()), await pay(url, payment()), await pay(url, payment())];
    expect(results.map(({ response, replayed }) => [response.status, replayed])).toEqual([
      [500, false],
      [500, true],
      [201, false],
    ]);
    expect([keys[0], new Set(keys).size]).toEqual([keys[1], 2]);
  });

  it.each([
    [401, [answer(401)]],
    [404, [answer(404)]],
    [401, [answer(429), answer(401)]],
    [431, [answer(431)]],
    [400, [keyProblem('key-malformed')]],
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

  it('to return the text that it was given ends the call, too', async () => {
    const { url, keys } = await service();
    const storage = Object.assign(new Shelf(), { getItem: () => ({ key: 'k' }) as unknown as string });
    await expect(client({ storage })(url, payment())).rejects.toMatchObject({
      code: 'storage-failed',
      cause: new TypeError('The storage must return the text that it was given, not an object'),
    });
    expect(keys).toEqual([]);
  });

  it('to be found, as where a browser blocks it, ends the call, or is replaced by memory', async () => {
    const { url, keys } = await service();
    const blocked = new DOMException('Access is denied', 'SecurityError');
    const storage = (): KeyStorage => {
      throw blocked;
    };
    await expect(client({ storage })(url, payment())).rejects.toMatchObject({ code: 'storage-failed', cause: blocked });
    await client({ storage, whenStorageFails: 'memory' })(url, payment());
    expect(keys.length).toBe(1);
  });

  it.each([
    ['one memory in a page, which has one storage', { document: {} }, 1],
    ['a memory for each on a server, where each may be for another user', {}, 2],
  ])('to be found by two functions is replaced by %s', async (_title, globals, count) => {
    const { url, keys } = await service([outage, outage]);
    const pay = async (): Promise<void> => {
      const paid = client({ storage: () => fails(), whenStorageFails: 'memory' })(url, payment());
      await expect(paid).rejects.toMatchObject({ code: 'gave-up' });
    };
    await withGlobals(globals, () => Promise.all([pay(), pay()]));
    expect(new Set(keys).size).toBe(count);
  });

  it.each([
    ['a page', { document: {} }],
    ['a server', {}],
  ])('to store, and is another object with each use, is replaced by one memory, in %s', async (_title, globals) => {
    const { url, keys, charges } = await service([outage]);
    const storage = (): KeyStorage => Object.assign(new Shelf(), { setItem: fails });
    const pay = client({ storage, whenStorageFails: 'memory' });
    await withGlobals(globals, async () => {
      await expect(pay(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
      await pay(url, payment());
    });
    expect([charges(), new Set(keys).size]).toEqual([1, 1]);
  });

  it('to answer once holds up no later call', async () => {
    const { url, charges } = await service();
    const shelf = new Shelf();
    const answers = [new Promise<never>(() => undefined)];
    const storage = Object.assign(shelf, { getItem: (name: string) => answers.pop() ?? shelf.items.get(name) ?? null });
    const late = client({ storage, deadline: 1_000 });
    const request = { ...payment(), operation: 'cart 42' };
    const error = await errorOf(
      () => late(url, request),
      () => answers.length === 0,
    );
    expect(error).toMatchObject({ code: 'storage-failed' });
    await client({ storage })(url, request);
    expect(charges()).toBe(1);
  });

  it('to answer ends the call at the deadline', async () => {
    const getItem = jest.fn(() => new Promise<never>(() => undefined));
    const late = client({ storage: Object.assign(new Shelf(), { getItem }), deadline: 50 });
    const error = await errorOf(
      () => late('http://shop/', { ...payment(), operation: 'never' }),
      () => getItem.mock.calls.length > 0,
    );
    expect(error).toMatchObject({ code: 'storage-failed', cause: { name: 'TimeoutError' } });
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

  it('to remove once leaves no key for the next operation after a reload', async () => {
    const { url, keys } = await service();
    const { items } = new Shelf();
    for (let time = 0; time < 2; time++)
      await client({ storage: Object.assign(new Shelf(items), { removeItem: fails }) })(url, payment());
    expect(new Set(keys).size).toBe(2);
  });

  it('to remove in time does not hold the answer up, and the key is not used again', async () => {
    const { url, keys } = await service();
    const shelf = new Shelf();
    const removals = [new Promise<void>(() => undefined)];
    const storage: KeyStorage = {
      getItem: name => shelf.getItem(name),
      setItem: (name, value) => {
        shelf.setItem(name, value);
      },
      removeItem: name => removals.pop() ?? shelf.removeItem(name),
    };
    const pay = client({ storage, deadline: 10_000 });
    const begun = performance.now();
    await pay(url, payment());
    expect(performance.now() - begun).toBeLessThan(9_500);
    await client({ storage, deadline: 40_000 })(url, payment());
    expect(new Set(keys).size).toBe(2);
  });

  it('to answer in time changes nothing any more when it does answer', async () => {
    const { url, keys, charges } = await service([outage]);
    const shelf = new Shelf();
    const late = signal();
    const answers = [late.happened];
    const storage = Object.assign(shelf, {
      getItem: async (name: string): Promise<string | null> => {
        const text = shelf.items.get(name) ?? null;
        await answers.pop();
        return text;
      },
    });
    const request = { ...payment(), operation: 'cart 42' };
    const error = await errorOf(
      () => client({ storage, deadline: 50 })(url, request),
      () => answers.length === 0,
    );
    expect(error).toMatchObject({ code: 'storage-failed' });
    await expect(client({ storage })(url, request)).rejects.toMatchObject({ code: 'gave-up' });
    const stored = [...shelf.items];
    late.happens();
    await new Promise(resolve => setImmediate(resolve));
    expect([...shelf.items]).toEqual(stored);
    await client({ storage: shelf.reloaded() })(url, request);
    expect([charges(), new Set(keys).size]).toEqual([1, 1]);
  });

  describe('while two calls have one key', () => {
    /** Two calls: the first is refused, the second one loses its answer. */
    const twoCalls = async (whenStorageFails: 'reject' | 'memory') => {
      const [refused, lost] = [signal(), signal()];
      const answers = [
        [refused, answer(401)],
        [lost, outage],
      ] as const;
      const { url, keys } = await service(
        answers.map(
          ([{ happened }, handler]) =>
            (req, res, next) =>
              void happened.then(() => handler(req, res, next)),
        ),
      );
      const storage = new Shelf();
      const pay = client({ storage, whenStorageFails });
      const arrived = async (requests: number): Promise<void> => {
        while (keys.length < requests) await new Promise(resolve => setTimeout(resolve, 5));
      };
      const call = () => pay(url, payment());
      const first = call();
      await arrived(1);
      return { call, arrived, first, keys, storage, refused, lost };
    };

    it.each(['reject', 'memory'] as const)('to read takes the key from neither (%s)', async whenStorageFails => {
      const { call, arrived, first, keys, storage, refused, lost } = await twoCalls(whenStorageFails);
      const second = call();
      await arrived(2);
      jest.spyOn(storage, 'getItem').mockImplementationOnce(fails);
      refused.happens();
      expect((await first).response.status).toBe(401);
      lost.happens();
      await expect(second).rejects.toMatchObject({ code: 'gave-up' });
      await call();
      expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    });

    it('to note the second one ends it before anything is sent', async () => {
      const { call, first, keys, storage, refused } = await twoCalls('reject');
      jest.spyOn(storage, 'setItem').mockImplementationOnce(fails);
      await expect(call()).rejects.toMatchObject({ code: 'storage-failed' });
      refused.happens();
      await first;
      expect(keys.length).toBe(1);
    });

    it("to note the second one leaves that to the page with whenStorageFails: 'memory'", async () => {
      const { call, arrived, first, keys, storage, refused, lost } = await twoCalls('memory');
      jest.spyOn(storage, 'setItem').mockImplementationOnce(fails);
      const second = call();
      await arrived(2);
      refused.happens();
      await first;
      lost.happens();
      await expect(second).rejects.toMatchObject({ code: 'gave-up' });
      await call();
      expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    });
  });

  it('once the page knows the key, does not take it from the page', async () => {
    const { url, keys, charges } = await service([outage]);
    const storage = new Shelf();
    // As components that make a client with each rendering.
    const pay = (): IdempotentFetch => client({ storage, whenStorageFails: 'memory' });
    await expect(pay()(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    Object.assign(storage, { getItem: fails, setItem: fails, removeItem: fails });
    await pay()(url, payment());
    expect([charges(), new Set(keys).size]).toEqual([1, 1]);
    await pay()(url, payment());
    expect([charges(), new Set(keys).size]).toEqual([2, 2]);
  });

  it('is no longer hidden by an expired key of the page when it works again', async () => {
    const { url, keys } = await service([outage, outage]);
    const storage = Object.assign(new Shelf(), { setItem: fails });
    const pay = client({ storage, whenStorageFails: 'memory', keyLifetime: 200 });
    await expect(pay(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await new Promise(resolve => setTimeout(resolve, 220));
    storage.setItem = Shelf.prototype.setItem as never;
    const lasting = client({ storage, whenStorageFails: 'memory' });
    await expect(lasting(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await lasting(url, payment());
    expect([keys[0] === keys[1], keys[1] === keys[2]]).toEqual([false, true]);
  });

  it('to forget is an error, unless the key is gone all the same', async () => {
    const forget = (broken: Partial<KeyStorage>): Promise<void> =>
      client({ storage: Object.assign(new Shelf(), broken), deadline: 100 }).forget('cart 42');
    await forget({ removeItem: fails });
    await expect(forget({ removeItem: fails, setItem: fails })).rejects.toMatchObject({
      code: 'storage-failed',
      cause: full,
      message: 'idempotentFetch: the storage failed, so the key of "cart 42" may still be there. Call forget() again.',
    });
    const never = (): Promise<never> => new Promise(() => undefined);
    await expect(forget({ removeItem: never })).rejects.toMatchObject({ cause: { name: 'TimeoutError' } });
  });

  it.each<[string, (storage: KeyStorage) => KeyStorage | (() => KeyStorage)]>([
    ['an object', storage => storage],
    ['another object with each use', storage => () => ({ ...storage })],
  ])('to remove does not take a definite answer away, and the key is not used again: %s', async (_title, given) => {
    const { url, keys, charges } = await service();
    const shelf = new Shelf();
    const setItem = (name: string, value: string): void => {
      if (value === '') fails();
      shelf.setItem(name, value);
    };
    const storage: KeyStorage = { getItem: name => shelf.getItem(name), setItem, removeItem: fails };
    const pay = client({ storage: given(storage) });
    for (let time = 0; time < 2; time++) expect((await pay(url, payment())).response.status).toBe(201);
    expect([charges(), new Set(keys).size]).toEqual([2, 2]);
  });

  it.each(['', 'x', '{}', '[]', 'null', '{"key":1,"digest":"a","until":1}'])(
    'to be ours counts as empty: %j',
    async text => {
      const { url, charges } = await service();
      const storage = Object.assign(new Shelf(), { getItem: () => text });
      expect([(await client({ storage })(url, payment())).replayed, charges()]).toEqual([false, 1]);
    },
  );

  it('to be ours counts as empty: a key that no header can carry', async () => {
    const { url, charges } = await service();
    const text = JSON.stringify({ key: 'a\nb', digest: 'a', until: Date.now() + 60_000 });
    await client({ storage: Object.assign(new Shelf(), { getItem: () => text }) })(url, payment());
    expect(charges()).toBe(1);
  });
});
