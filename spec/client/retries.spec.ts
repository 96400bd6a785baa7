import type { RequestHandler } from 'express';
import { IdempotentFetchError, type RetryInfo } from '../../lib/client';
import { freePort } from '../support/servers/redis-server';
import { signal } from '../support/signal';
import { answer, client, onClock, payment, service, Shelf } from './service';

const problem = (type: string, headers = {}) =>
  answer(409, { 'Content-Type': 'application/problem+json', ...headers }, JSON.stringify({ type }));

describe('an attempt is repeated, with the same key, after', () => {
  const inFlight = ['urn:bindonce:', 'https://example.com/errors#', 'https://example.com/errors#idem-'];
  it.each<[string, RequestHandler[]]>([
    ...[408, 425, 429, 502, 503, 504, 520, 524].map((status): [string, RequestHandler[]] => [
      `${status}`,
      [answer(status)],
    ]),
    ['409 with Retry-After', [answer(409, { 'Retry-After': '0' })]],
    ...inFlight.map((base): [string, RequestHandler[]] => [`409: ${base}`, [problem(`${base}request-in-flight`)]]),
    ['several of them', [answer(503), answer(429), answer(502)]],
  ])('%s', async (_title, trouble) => {
    const { url, keys, charges } = await service(trouble);
    const { response, attempts, key, replayed } = await client()(url, payment());
    expect([response.status, attempts, replayed, charges()]).toEqual([201, trouble.length + 1, false, 1]);
    expect(keys).toEqual(Array.from({ length: attempts }, () => key));
    expect(key).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  });

  it('a request in flight, long before the lease of its server is over', async () => {
    const { url, times } = await service([problem('urn:bindonce:request-in-flight', { 'Retry-After': '30' })]);
    expect((await client()(url, payment())).response.status).toBe(201);
    const [first = 0, second = 0] = times;
    expect([second - first >= 1_990, second - first < 20_000]).toEqual([true, true]);
  });

  it('the 409 of the server itself, while the first request is running', async () => {
    const done = signal();
    const options = { whenInFlight: 'reject', leaseDuration: 1_000, work: () => done.happened } as const;
    const { url, charges } = await service([], options);
    const pay = client();
    const both = [1, 2].map(() => pay(url, { ...payment(), operation: 'cart 42' }));
    setTimeout(() => {
      done.happens();
    }, 100);
    const answers = await Promise.all(both);
    expect([new Set(answers.map(({ key }) => key)).size, charges()]).toEqual([1, 1]);
    expect(answers.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
  });
});

it.each([{}, { replayedHeader: 'X-Again', headerName: 'X-Key' }])(
  'a replay is definite, whatever its status: %j',
  async options => {
    const { url, charges } = await service([], { ...options, work: () => 503 });
    const { response, replayed, attempts } = await client(options)(url, payment());
    expect([response.status, replayed, attempts, charges()]).toEqual([503, true, 2, 1]);
  },
);

describe('the client waits', () => {
  it('as long as Retry-After says', async () => {
    const { url, times } = await service([answer(503, { 'Retry-After': '1' })]);
    await client()(url, payment());
    const [first = 0, second = 0] = times;
    expect([second - first > 990, second - first < 19_000]).toEqual([true, true]);
  });

  it('a random part of a limit that doubles', async () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.999);
    try {
      const { url, times } = await service([answer(503), answer(503), answer(503), answer(503)]);
      await client({ baseDelay: 50, maxDelay: 200 })(url, payment());
      const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
      for (const [index, least] of [49, 99, 199, 199].entries()) expect(pauses[index]).toBeGreaterThan(least);
      random.mockReturnValue(0);
      const eager = await service([answer(503), answer(503)]);
      await client({ baseDelay: 20_000, maxDelay: 20_000 })(eager.url, payment());
      expect((eager.times.at(-1) ?? 0) - (eager.times[0] ?? 0)).toBeLessThan(19_000);
    } finally {
      random.mockRestore();
    }
  });
});

describe('the client gives up', () => {
  it('before a pause that would end after the deadline, with the last answer', async () => {
    const { url, keys } = await service([answer(429, { 'Retry-After': '3600' }, 'too many')]);
    const begun = performance.now();
    const error = await client()(url, payment()).catch((thrown: unknown) => thrown as IdempotentFetchError);
    expect(performance.now() - begun).toBeLessThan(19_000);
    if (!(error instanceof IdempotentFetchError)) throw new TypeError('There is an answer.');
    const facts = { name: 'IdempotentFetchError', code: 'gave-up', key: keys[0], attempts: 1, response: 429 };
    expect({ ...error, response: error.response?.status }).toEqual(facts);
    expect(await error.response?.text()).toBe('too many');
    expect(error.message).toBe(
      'idempotentFetch: gave up after 1 attempt: the answer was 429, and another attempt, in 3600000 ms, would be ' +
        'too late for the deadline. The operation may have run; its key is kept, unless another call has got its ' +
        'answer.',
    );
  });

  it('when an attempt would have no time for its answer', async () => {
    await onClock(async forward => {
      const fetch = (): Promise<Response> => {
        forward(29_960);
        return Promise.resolve(new Response(null, { status: 503 }));
      };
      const paid = client({ fetch })('http://shop/', payment());
      await expect(paid).rejects.toMatchObject({ code: 'gave-up', attempts: 1 });
    });
  });

  it('with a key of the application, which has to be sent again', async () => {
    const { url } = await service([answer(503, { 'Retry-After': '3600' })]);
    await expect(client()(url, { ...payment(), key: 'order-42' })).rejects.toMatchObject({
      key: 'order-42',
      message: expect.stringMatching(/The operation may have run; repeat it with the same key\.$/) as string,
    });
  });

  it('at the deadline, in the middle of an attempt, with the cause', async () => {
    const { url } = await service([() => undefined]);
    await onClock(async forward => {
      const claim: Shelf['claim'] = (_name, entry) => {
        forward(29_800);
        return entry;
      };
      const late: typeof fetch = (...request) => {
        forward(200);
        return fetch(...request);
      };
      const paid = client({ storage: Object.assign(new Shelf(), { claim }), fetch: late })(url, payment());
      const cause = { name: 'TimeoutError' };
      await expect(paid).rejects.toMatchObject({ code: 'gave-up', attempts: 1, response: undefined, cause });
    });
  });

  it('where nothing listens, after many attempts', async () => {
    const port = await freePort();
    await onClock(async forward => {
      let sent = 0;
      const counted: typeof fetch = (...request) => {
        if (++sent === 5) forward(30_000);
        return fetch(...request);
      };
      const why = `there was no answer (TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:${port})`;
      await expect(client({ fetch: counted })(`http://127.0.0.1:${port}/payments`, payment())).rejects.toMatchObject({
        ...{ code: 'gave-up', attempts: 5, cause: { name: 'TypeError' } },
        message: expect.stringContaining(why) as string,
      });
    });
  });
});

describe('a signal', () => {
  const reason = new Error('The user has left');

  it('that has aborted before sends nothing and stores nothing', async () => {
    const { url, keys } = await service();
    const storage = new Shelf();
    const paid = client({ storage })(url, { ...payment(), signal: AbortSignal.abort(reason) });
    await expect(paid).rejects.toBe(reason);
    expect([keys.length, storage.items.size]).toEqual([0, 0]);
  });

  it.each<[string, RequestHandler]>([
    ['an attempt', () => undefined],
    ['a pause', answer(503, { 'Retry-After': '20' })],
  ])('ends %s at once, and the next call has the same key', async (_title, trouble) => {
    const { url, keys } = await service([trouble]);
    const [pay, controller] = [client(), new AbortController()];
    setTimeout(() => {
      controller.abort(reason);
    }, 100);
    await expect(pay(url, { ...payment(), signal: controller.signal })).rejects.toBe(reason);
    const { key } = await pay(url, payment());
    expect(keys).toEqual([key, key]);
  });
});

describe('onRetry', () => {
  it('is told of each pause before it begins', async () => {
    const { url, keys } = await service([answer(503, { 'Retry-After': '1' }), (_req, res) => res.destroy()]);
    const told: RetryInfo[] = [];
    await client({ onRetry: info => told.push(info) })(url, payment());
    const [key] = keys;
    expect(told).toMatchObject([
      { attempt: 1, key, pause: 1_000, response: { status: 503 }, error: undefined },
      { attempt: 2, key, response: undefined, error: { message: 'fetch failed' } },
    ]);
  });

  it('ends the call by an error, and the key is kept', async () => {
    const storage = new Shelf();
    const { url } = await service([answer(503)]);
    const stop = new Error('The user has had enough');
    const onRetry = (): never => {
      throw stop;
    };
    await expect(client({ storage, onRetry })(url, payment())).rejects.toBe(stop);
    expect(storage.items.size).toBe(1);
  });
});

/** The window of a page, as far as it hears that it is online. (tabs.spec.ts has a browser, which is.) */
it('a pause is over at once when the page is online again, unless a server has asked for it', async () => {
  const page = new EventTarget();
  const names = ['addEventListener', 'removeEventListener'] as const;
  for (const name of names) Object.assign(globalThis, { [name]: page[name].bind(page) });
  const random = jest.spyOn(Math, 'random').mockReturnValue(0.99);
  try {
    for (const [trouble, isAtOnce] of [
      [(_req, res) => res.destroy(), true],
      [answer(503, { 'Retry-After': '1' }), false],
    ] as const satisfies [RequestHandler, boolean][]) {
      const { url, times } = await service([trouble]);
      const onRetry = (): void => {
        setTimeout(() => page.dispatchEvent(new Event('online')), 20);
      };
      await client({ baseDelay: isAtOnce ? 20_000 : 1, maxDelay: 20_000, onRetry })(url, payment());
      expect((times[1] ?? 0) - (times[0] ?? 0) < 900).toBe(isAtOnce);
    }
  } finally {
    random.mockRestore();
    for (const name of names) Reflect.deleteProperty(globalThis, name);
  }
});
