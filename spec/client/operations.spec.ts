import type { RequestHandler } from 'express';
import { idempotentFetch, type KeyStorage } from '../../lib/client';
import { signal } from '../support/signal';
import { answer, client, payment, service, Shelf } from './service';

/** An answer after which a client whose deadline is near gives up. */
const outage = answer(503, { 'Retry-After': '3600' });

describe('the key of an operation', () => {
  it('is stored before the first attempt, and removed when the answer is definite', async () => {
    const storage = new Shelf();
    const seen: unknown[] = [];
    const { url, keys } = await service([
      (_req, _res, next) => {
        seen.push(...storage.items);
        next();
      },
    ]);
    await client({ storage, prefix: 'shop:' })(url, { ...payment(), operation: 'cart 42' });
    const digest = expect.stringMatching(/^[\da-f]{64}$/) as string;
    const until = expect.any(Number) as number;
    expect(seen).toEqual([['shop:operation:cart 42', { key: keys[0], digest, until }]]);
    expect(storage.items.size).toBe(0);
  });

  it.each([{ operation: 'cart 42' }, {}])('is the same after a reload: %j', async operation => {
    const storage = new Shelf();
    const { url, keys, charges } = await service([outage]);
    const request = { ...payment(), ...operation };
    await expect(client({ storage })(url, request)).rejects.toMatchObject({ code: 'gave-up' });
    const { response } = await client({ storage })(url, request);
    expect([response.status, charges(), new Set(keys).size, storage.items.size]).toEqual([201, 1, 1, 0]);
  });

  it.each(['an object', 'memory'])(
    'is the same in two calls at one time, which both get the answer: %s',
    async kind => {
      const storage = kind === 'memory' ? kind : new Shelf();
      const done = signal();
      const second: RequestHandler = (_req, _res, next) => {
        done.happens();
        next();
      };
      const { url, keys, charges } = await service([undefined, second], { work: () => done.happened });
      const prefix = `both ${kind} `;
      const answers = await Promise.all([1, 2].map(() => client({ storage, prefix })(url, payment())));
      expect([charges(), keys.length, new Set(keys).size]).toEqual([1, 2, 1]);
      expect(answers.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
    },
  );

  it('is the same in all clients of a process that has no storage, which a warning tells once', async () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    const { url, keys } = await service([outage]);
    // As a component that makes one with each rendering.
    const clientOfPage = () => idempotentFetch({ baseDelay: 1 });
    await expect(clientOfPage()(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await clientOfPage()(url, payment());
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('bindonce/client keeps its keys in memory') as string, expect.anything() as unknown],
    ]);
    warn.mockRestore();
  });

  it('is another one for an equal request after a definite answer', async () => {
    const { url, keys, charges } = await service();
    const pay = client();
    for (let time = 0; time < 2; time++) await pay(url, { ...payment(), operation: 'cart 42' });
    expect([charges(), new Set(keys).size]).toEqual([2, 2]);
  });

  it.each([
    ['a call that is aborted', { name: 'AbortError' }, 30_000],
    ['a call whose deadline passes', { code: 'storage-failed', cause: { name: 'TimeoutError' } }, 50],
  ])('is not kept by %s before anything is sent', async (_title, error, deadline) => {
    const { url, keys } = await service();
    const [storage, stored, controller] = [new Shelf(), signal(), new AbortController()];
    const slow = Object.assign(new Shelf(), {
      claim: async (...args: Parameters<KeyStorage['claim']>) => {
        if (deadline > 50) controller.abort();
        await stored.happened;
        return storage.claim(...args);
      },
      remove: (...args: Parameters<KeyStorage['remove']>) => storage.remove(...args),
    });
    const request = { operation: 'cart 42', signal: controller.signal };
    await expect(client({ storage: slow, deadline })(url, { ...payment('4.50'), ...request })).rejects.toMatchObject(
      error,
    );
    stored.happens();
    await new Promise(resolve => setImmediate(resolve));
    expect([keys.length, storage.items.size]).toEqual([0, 0]);
  });

  it('is not used again once its lifetime is over', async () => {
    const { url, keys } = await service([outage]);
    const pay = client({ keyLifetime: 50 });
    await expect(pay(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await new Promise(resolve => setTimeout(resolve, 60));
    await pay(url, payment());
    expect(new Set(keys).size).toBe(2);
  });

  it('that the application keeps itself is sent as it is, and not stored', async () => {
    const storage = Object.assign(new Shelf(), { claim: jest.fn(), remove: jest.fn() });
    const { url, keys } = await service([answer(503)]);
    const { key } = await client({ storage })(url, { ...payment(), key: 'order-42' });
    expect([key, keys]).toEqual(['order-42', ['order-42', 'order-42']]);
    expect([storage.claim, storage.remove].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });
});

type Said = readonly [status: number, headers?: Readonly<Record<string, string>>, body?: string];

describe('an operation that may have run keeps its key', () => {
  const problem = (status: number, type: string): Said => [
    status,
    { 'Content-Type': 'Application/Problem+JSON; charset=utf-8' },
    JSON.stringify({ type }),
  ];
  const bases = ['urn:bindonce:', 'https://example.com/errors#idem-', 'urn:acme2'];
  const underBases = (code: string, of: (type: string) => Said[]): [boolean, ...Said[]][] =>
    bases.map(base => [true, ...of(base + code)]);

  it.each<[isKept: boolean, ...Said[]]>([
    // These do not tell what became of the attempt before.
    ...[302, 401, 403, 404, 405, 407, 410, 421, 426, 431, 500].map((status): [boolean, Said, Said] => [
      true,
      [503],
      [status],
    ]),
    ...['missing', 'repeated', 'malformed'].flatMap(end =>
      underBases(`key-${end}`, type => [[502], problem(400, type)]),
    ),
    // Something has run with the key.
    ...['response-unavailable', 'outcome-unknown'].flatMap(code => underBases(code, type => [problem(409, type)])),
    ...underBases('key-reused', type => [problem(422, type)]),
    // A gateway may say so, behind which it has run.
    ...[500, 501, 507].map((status): [boolean, Said] => [true, [status]]),
    // Nothing has run, or the answer tells what has.
    ...[[401], [404], [431], [429, 401], [503, 400], [503, 422]].map((said): [boolean, ...Said[]] => [
      false,
      ...said.map((status): Said => [status]),
    ]),
    [false, problem(400, 'urn:bindonce:key-malformed')],
  ])('%s: after %j %j', async (isKept, ...said) => {
    const keys: (string | null)[] = [];
    // That of Node repeats a request once after a 421, and takes a 407 for a broken connection.
    const answers: typeof fetch = (_url, init) => {
      const key = new Headers(init?.headers).get('Idempotency-Key');
      const [status = 201, headers = {}, body = null] = said[keys.push(key) - 1] ?? [];
      return Promise.resolve(new Response(body, { status, headers }));
    };
    const pay = client({ fetch: answers });
    expect((await pay('http://shop/', payment())).response.status).toBe(said.at(-1)?.[0]);
    await pay('http://shop/', payment());
    expect([keys.length, new Set(keys).size]).toEqual([said.length + 1, isKept ? 1 : 2]);
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

  it.each(['an object', 'memory'])('when another call has joined it, and only this one was refused: %s', async kind => {
    const [begun, joined, refused, done] = [signal(), signal(), signal(), signal()];
    const { url, keys } = await service([
      (_req, res) => {
        begun.happens();
        void refused.happened.then(() => res.status(401).end());
      },
      (_req, res) => {
        joined.happens();
        void done.happened.then(() => res.status(503).set('Retry-After', '3600').end());
      },
    ]);
    const storage = kind === 'memory' ? kind : new Shelf();
    const prefix = `joined ${kind} `;
    const one = client({ storage, prefix })(url, payment());
    await begun.happened;
    const other = client({ storage, prefix })(url, payment());
    await joined.happened;
    refused.happens();
    expect((await one).response.status).toBe(401);
    done.happens();
    await expect(other).rejects.toMatchObject({ code: 'gave-up' });
    await client({ storage, prefix })(url, payment());
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
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
});

describe('an unfinished operation whose request has changed', () => {
  it('is an error before anything is sent, until it is forgotten', async () => {
    const { url, keys, charges } = await service([outage]);
    const pay = client();
    await expect(pay(url, { ...payment('4.50'), operation: 'cart 42' })).rejects.toMatchObject({ code: 'gave-up' });
    const message =
      'idempotentFetch: "cart 42" has an unfinished request with other values, which may have run. Finish it with the ' +
      'values it began with, or call forget(operation) if it must not count.';
    const changed = { code: 'operation-changed', key: keys[0], attempts: 0, message };
    await expect(pay(url, { ...payment('5.00'), operation: 'cart 42' })).rejects.toMatchObject(changed);
    expect(keys.length).toBe(1);
    await pay.forget('cart 42');
    await pay(url, { ...payment('5.00'), operation: 'cart 42' });
    expect([charges(), new Set(keys).size]).toEqual([1, 2]);
  });
});

describe('a storage that fails', () => {
  const full = new DOMException('There is no room', 'QuotaExceededError');
  const fails = (): never => {
    throw full;
  };
  const never = (): Promise<never> => new Promise(() => undefined);

  it.each<[string, KeyStorage['claim'], unknown]>([
    ['at once', fails, full],
    ['later', () => Promise.reject(full), full],
    ['to answer', never, { name: 'TimeoutError' }],
  ])('to store, %s, ends the call before anything is sent', async (_title, claim, cause) => {
    const { url, keys } = await service();
    const pay = client({ storage: Object.assign(new Shelf(), { claim }), deadline: 200 });
    await expect(pay(url, payment())).rejects.toMatchObject({ code: 'storage-failed', cause });
    expect(keys).toEqual([]);
  });

  it("to store is replaced by memory with whenStorageFails: 'memory', until it works again", async () => {
    const { url, keys, charges } = await service([outage, undefined, outage]);
    const storage = Object.assign(new Shelf(), { claim: fails });
    const pay = client({ storage, whenStorageFails: 'memory' });
    await expect(pay(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    await pay(url, payment());
    await expect(pay(url, payment())).rejects.toMatchObject({ code: 'gave-up' });
    storage.claim = Shelf.prototype.claim as never;
    await pay(url, payment());
    expect([charges(), keys[0] === keys[1], keys[1] === keys[2], keys[2] === keys[3]]).toEqual([2, true, false, true]);
    expect(storage.items.size).toBe(0);
  });

  it.each<[string, KeyStorage['remove']]>([
    ['at once', fails],
    ['in time', never],
  ])('to remove, %s, does not take a definite answer away', async (_title, remove) => {
    const { url } = await service();
    const pay = client({ storage: Object.assign(new Shelf(), { remove }), deadline: 10_000 });
    const begun = performance.now();
    expect((await pay(url, payment())).response.status).toBe(201);
    expect(performance.now() - begun).toBeLessThan(9_500);
    // The key is still there: the same call is the same operation.
    expect((await pay(url, payment())).replayed).toBe(true);
  });

  it.each<[string, KeyStorage['remove'], unknown]>([
    ['at once', fails, full],
    ['to answer', never, { name: 'TimeoutError' }],
  ])('to forget, %s, is an error', async (_title, remove, cause) => {
    const { forget } = client({ storage: Object.assign(new Shelf(), { remove }), deadline: 100 });
    const message =
      'idempotentFetch: the storage failed, so the key of "cart 42" may still be there. Call forget() again.';
    await expect(forget('cart 42')).rejects.toMatchObject({ code: 'storage-failed', cause, message });
  });
});
