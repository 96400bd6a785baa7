import type { RequestHandler } from 'express';
import { type IdempotencyOptions, type RecordedResponse, type RequestIdempotency } from '../../../lib';
import { warned } from '../../../lib/warnings/warn-once';
import { guarded, seen } from '../../support/guarded';
import { signal } from '../../support/signal';

describe('shouldCache', () => {
  const later = (value: unknown): Promise<unknown> => new Promise(resolve => setTimeout(resolve, 20, value));
  const wrong = (what: string): string =>
    `idempotency: shouldCache ${what}, and the response is stored. Correct shouldCache.`;
  const instead = (what: string): string => wrong(`answered ${what} instead of true or false`);

  it('is shown the response as it is stored, and the request', async () => {
    const shown: [RecordedResponse, string][] = [];
    const shouldCache: IdempotencyOptions['shouldCache'] = (response, req) => shown.push([response, req.path]) > 0;
    const drop: RequestHandler = (_req, res, next) => next(void res.set('X-Front', '1'));
    const { post } = await guarded(
      { shouldCache },
      (_req, res) => {
        res.removeHeader('X-Front');
        res.status(201).type('text').set('Trailer', 'X-T').set('Date', 'today');
        res.addTrailers({ 'X-T': '1' });
        res.end('hi');
      },
      { before: [drop] },
    );
    await post();
    const { headers, ...rest } = shown[0]?.[0] ?? { headers: [] };
    const lines = headers.map(line => line.join(': '));
    expect(lines).toEqual(['Idempotency-Key: k', 'Content-Type: text/plain; charset=utf-8', 'Trailer: X-T']);
    const stored = { status: 201, removed: ['x-front'], body: Buffer.from('hi'), trailers: [['X-T', '1']] };
    expect([rest, shown[0]?.[1], shown.length]).toEqual([stored, '/', 1]);
  });

  const throwing = (): never => {
    throw new Error('no');
  };
  it.each<[string, unknown, runs: number, warning?: string]>([
    ['answers false', () => false, 4],
    ['promises false', () => Promise.resolve(false), 4],
    ['promises false, and takes a while', () => later(false), 4],
    ['promises true', () => later(true), 2],
    ['throws', throwing, 2, wrong('threw Error: no')],
    ['rejects', async () => throwing(), 2, wrong('threw Error: no')],
    ['rejects with nothing', () => Promise.reject(undefined as unknown as Error), 2, wrong('threw Error: undefined')],
    ['answers undefined', () => undefined, 2, instead('a value of type undefined')],
    ['promises null', () => Promise.resolve(null), 2, instead('null')],
    ['answers 0', () => 0, 2, instead('a value of type number')],
  ])(
    'that %s decides, or is a warning, once, and the response is stored',
    async (_title, ...[shouldCache, ran, warning]) => {
      warned.clear();
      const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
      const { post, runs } = await guarded({ shouldCache: shouldCache as () => boolean });
      // Jest fails a test during which a rejection is left unhandled.
      for (const key of ['a', 'a', 'b', 'b']) await post({ key });
      const told = warn.mock.calls;
      warn.mockRestore();
      expect([runs(), told]).toEqual([ran, warning ? [[warning, { code: 'BINDONCE_SHOULD_CACHE' }]] : []]);
    },
  );
});

describe('req.idempotency', () => {
  it('tells the handler its key and cache key, with a signal that is not aborted', async () => {
    const guards: RequestIdempotency[] = [];
    const { post, log } = await guarded({}, (req, res) => {
      guards.push(req.idempotency);
      res.end();
    });
    await post({ key: '"my key"' });
    expect(guards).toEqual([expect.objectContaining({ key: 'my key', cacheKey: log.events[0]?.cacheKey })]);
    expect(guards[0]?.signal.aborted).toBe(false);
  });

  it.each([true, false])(
    'aborts the signal of a handler when nothing is kept, by forget() or not: %p',
    async forgets => {
      const aborted = signal<unknown>();
      const { post } = await guarded({ shouldCache: () => forgets }, (req, res) => {
        const { signal: own, forget } = req.idempotency;
        own.addEventListener('abort', () => aborted.happens(own.reason));
        if (forgets) forget();
        res.end();
      });
      await post();
      expect(String(await aborted.happened)).toMatch(forgets ? /given back/ : /./);
    },
  );

  it('lets the next request run when the handler calls forget(), even before it answers', async () => {
    const { post } = await guarded({ maxResponseBytes: 20 }, (req, res, _next, run) => {
      if (run <= 2) req.idempotency.forget();
      // Also where the response would be too long to store.
      res.send(run === 1 ? 'x'.repeat(21) : String(run));
    });
    const texts = [];
    for (let request = 0; request < 4; request++) texts.push(seen(await post()));
    expect(texts).toEqual(['x'.repeat(21), '2', '3', '3 again']);
  });
});

it.each<[string, IdempotencyOptions, string | undefined]>([
  ['as it was sent', {}, 'k'],
  ['not at all when addHeaderToResponse is false', { addHeaderToResponse: false }, undefined],
  ['under its own name', { headerName: 'X-Once' }, undefined],
])('the response echoes the key %s', async (_title, options, expected) => {
  const { post } = await guarded(options);
  const { headers } = await post({ headers: { 'X-Once': 'once' } });
  expect([headers['idempotency-key'], headers['x-once']]).toEqual([expected, options.headerName && 'once']);
});
