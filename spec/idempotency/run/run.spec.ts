import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import {
  idempotency,
  Problem,
  problemDetails,
  type IdempotencyOptions,
  type RecordedResponse,
  type RequestIdempotency,
} from '../../../lib';
import * as warnings from '../../../lib/warnings/warn-once';
import { send, type WireResponse } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

/** Milliseconds. */
const LATE = 60;

it('a process warns once of a shouldCache that fails, and stores each response', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const fail = (): never => {
    throw new Error('cannot tell');
  };
  const guard = idempotency({ shouldCache: fail });
  const { url } = await serve(express().post('/', guard, (_req, res) => void res.send('x')));
  for (const key of ['k', 'l', 'm']) {
    await send(url, { headers: keyed(key) });
    expect((await send(url, { headers: keyed(key) })).headers['idempotent-replayed']).toBe('true');
  }
  expect(warn.mock.calls).toEqual([
    [
      'idempotency: shouldCache threw Error: cannot tell, and the response is stored. Correct shouldCache.',
      { code: 'BINDONCE_SHOULD_CACHE' },
    ],
  ]);
  warn.mockRestore();
});

describe.each(expressVersions)('on %s, a handler that', (_version, express) => {
  const served = async (
    handler: RequestHandler,
    options: IdempotencyOptions,
    ...errorHandlers: ErrorRequestHandler[]
  ) => {
    const state = { runs: 0 };
    const app = express()
      .set('env', 'test')
      .post('/', idempotency(options), (req, res, next) => {
        state.runs++;
        return handler(req, res, next);
      });
    for (const errorHandler of errorHandlers) app.use(errorHandler);
    const { url } = await serve(app);
    return { state, post: (body = ''): Promise<WireResponse> => send(url, { headers: keyed('k'), body }) };
  };

  it('answers with a Problem of its own has run: its duplicate gets the same answer', async () => {
    const { state, post } = await served(
      (_req, _res, next) => next(new Problem('validation-failed', 'no')),
      {},
      problemDetails(),
    );
    expect([(await post()).status, (await post()).status, state.runs]).toEqual([400, 400, 1]);
  });
});

describe('run and record', () => {
  const [, express] = expressVersions[0] ?? [];
  const app = (options: IdempotencyOptions, handler: RequestHandler) => {
    if (!express) throw new Error('There is no Express');
    return express().set('env', 'test').post('/', idempotency(options), handler);
  };

  it('shows shouldCache the response as it is stored, and the request', async () => {
    const seen: [RecordedResponse, string][] = [];
    const shouldCache: IdempotencyOptions['shouldCache'] = (response, req) => {
      seen.push([response, req.path]);
      return true;
    };
    const { url } = await serve(
      app({ shouldCache }, (_req, res) => {
        res.removeHeader('X-Powered-By');
        res.status(201).type('text').set('Trailer', 'X-T').set('Date', 'today');
        res.addTrailers({ 'X-T': '1' });
        res.end('hi');
      }),
    );
    await send(url, { headers: keyed('k') });
    expect(seen).toEqual([
      [
        {
          status: 201,
          headers: [
            ['Idempotency-Key', 'k'],
            ['Content-Type', 'text/plain; charset=utf-8'],
            ['Trailer', 'X-T'],
          ],
          removed: ['x-powered-by'],
          body: Buffer.from('hi'),
          trailers: [['X-T', '1']],
        },
        '/',
      ],
    ]);
  });

  describe('that asks shouldCache', () => {
    const asked = async (shouldCache: unknown, storeTimeout = 2_000, afterwards = (): void => undefined) => {
      const warn = jest.spyOn(warnings, 'warnOnce').mockImplementation(() => undefined);
      const unhandled = jest.fn();
      process.on('unhandledRejection', unhandled);
      let runs = 0;
      const { url } = await serve(
        app({ shouldCache: shouldCache as () => boolean, storeTimeout }, (_req, res) => void res.json({ run: ++runs })),
      );
      await send(url, { headers: keyed('k') });
      const second = await send(url, { headers: keyed('k') });
      afterwards();
      // A rejection that nobody handles is told in this time.
      await new Promise(resolve => {
        setTimeout(resolve, 2 * LATE);
      });
      process.off('unhandledRejection', unhandled);
      expect(unhandled).not.toHaveBeenCalled();
      const texts = warn.mock.calls.map(([, text]) => text);
      warn.mockRestore();
      return { text: second.text, texts };
    };

    it.each<[string, unknown]>([
      ['false', () => false],
      ['a promise of false', () => Promise.resolve(false)],
      [
        'a promise of false that takes a while',
        () =>
          new Promise(resolve => {
            setTimeout(resolve, 20, false);
          }),
      ],
    ])('stores nothing for %s', async (_title, shouldCache) => {
      expect(await asked(shouldCache)).toEqual({ text: '{"run":2}', texts: [] });
    });

    it('stores the response for a promise of true', async () => {
      expect(await asked(() => Promise.resolve(true))).toEqual({ text: '{"run":1}', texts: [] });
    });

    it.each<[string, unknown, string]>([
      [
        'rejects',
        () => Promise.reject(new Error('cannot tell')),
        'idempotency: shouldCache threw Error: cannot tell, and the response is stored. Correct shouldCache.',
      ],
      [
        'rejects with nothing',
        () => Promise.reject(undefined as unknown as Error),
        'idempotency: shouldCache threw Error: undefined, and the response is stored. Correct shouldCache.',
      ],
      [
        'answers undefined',
        () => undefined,
        'idempotency: shouldCache answered a value of type undefined instead of true or false, and the response is stored. Correct shouldCache.',
      ],
      [
        'promises null',
        () => Promise.resolve(null),
        'idempotency: shouldCache answered null instead of true or false, and the response is stored. Correct shouldCache.',
      ],
      [
        'answers 0',
        () => 0,
        'idempotency: shouldCache answered a value of type number instead of true or false, and the response is stored. Correct shouldCache.',
      ],
    ])('stores the response and warns when it %s', async (_title, shouldCache, text) => {
      expect(await asked(shouldCache)).toEqual({ text: '{"run":1}', texts: [text] });
    });
  });

  it('tells the handler its key and cache key, with a signal that is not aborted', async () => {
    const log = new EventLog();
    const guards: RequestIdempotency[] = [];
    const { url } = await serve(
      app({ onEvent: log.onEvent }, (req, res) => {
        guards.push(req.idempotency);
        res.end();
      }),
    );
    await send(url, { headers: keyed('"my key"') });
    expect(guards).toEqual([expect.objectContaining({ key: 'my key', cacheKey: log.events[0]?.cacheKey })]);
    expect(guards[0]?.signal.aborted).toBe(false);
  });

  it.each<[string, IdempotencyOptions, RequestHandler]>([
    ['calls forget()', {}, (req, res) => void res.json(req.idempotency.forget() ?? 1)],
    ['is answered for, and nothing is kept', { shouldCache: () => false }, (_req, res) => void res.status(503).end()],
  ])('aborts the signal of a handler that may still be at work when it %s', async (_title, options, handler) => {
    const aborted = signal();
    const { url } = await serve(
      app(options, (req, res, next) => {
        req.idempotency.signal.addEventListener('abort', () => aborted.happens());
        void handler(req, res, next);
      }),
    );
    await send(url, { headers: keyed('k') });
    await aborted.happened;
  });

  it('lets the next request run when the handler calls forget(), even before it answers', async () => {
    let runs = 0;
    const { url } = await serve(
      app({}, (req, res) => {
        if (runs++ === 0) req.idempotency.forget();
        res.json({ runs });
      }),
    );
    const texts = [];
    for (let request = 0; request < 3; request++) texts.push((await send(url, { headers: keyed('k') })).text);
    expect(texts).toEqual(['{"runs":1}', '{"runs":2}', '{"runs":2}']);
  });

  it.each<[string, IdempotencyOptions, string | undefined]>([
    ['as it was sent', {}, 'k'],
    ['not at all when addHeaderToResponse is false', { addHeaderToResponse: false }, undefined],
    ['under its own name', { headerName: 'X-Once' }, undefined],
  ])('echoes the key %s', async (_title, options, expected) => {
    const { url } = await serve(app(options, (_req, res) => void res.end()));
    const { headers } = await send(url, { headers: { 'Idempotency-Key': 'k', 'X-Once': 'once' } });
    expect(headers['idempotency-key']).toBe(expected);
    expect(headers['x-once']).toBe(options.headerName && 'once');
  });
});
