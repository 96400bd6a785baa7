import { createRequire } from 'node:module';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { auth } from 'express-oauth2-jwt-bearer';
import { Keyv } from 'keyv';
import multer from 'multer';
import { configure, dto, idempotency, int, Problem, problemDetails } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { ask, problemIn } from '../support/ask';
import { send } from '../support/listen';
import { keyed, visible, visibleReplay } from '../support/replays';
import { serve } from '../support/serve';

/** The errors that Express, its routers and its body parsers make. */
const createError = createRequire(require.resolve('express'))('http-errors') as typeof import('http-errors');

class Item extends dto({ n: int }) {}
const path = '/a/b?secret=1';
const httpError = (status: number, more: object = {}) =>
  Object.assign(new Error('text of the error'), { status, expose: status < 500, ...more });

/** Answers with what the error handlers before it let through. */
const last: ErrorRequestHandler = (error, _req, res, next) => {
  if (res.headersSent) next(error);
  else res.status(500).end('went on');
};

function failing(framework: () => Express, error: unknown): Express {
  const app = framework();
  app.use((_req: Request, _res: Response, next: (error: unknown) => void) => next(error));
  app.use(problemDetails());
  return app.use(last);
}

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each([
    ['404 of http-errors', httpError(404), 'Not Found'],
    ['413 of a body parser', httpError(413, { type: 'entity.too.large' }), 'Payload Too Large'],
    ['a status without a name', httpError(499), 'Error'],
  ])('%s becomes a problem', async (_what, error, title) => {
    const response = await ask(failing(framework, error), { path });
    expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(problemIn(response)).toEqual({
      type: 'about:blank',
      title,
      status: error.status,
      detail: 'text of the error',
      instance: '/a/b',
    });
  });

  it('the headers that an error carries are sent', async () => {
    const { status, headers } = await ask(failing(framework, httpError(429, { headers: { 'Retry-After': '7' } })));
    expect([status, headers['retry-after']]).toEqual([429, '7']);
  });

  describe('of a response that fails, a problem has', () => {
    const described = {
      'Content-Digest': 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:',
      'Content-Disposition': 'attachment; filename="order.pdf"',
      'Content-Encoding': 'gzip',
      'Content-Location': '/orders/7',
      'Content-Range': 'bytes 0-9/10',
      'Repr-Digest': 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:',
      Trailer: 'Content-Digest',
    };
    const fail = (error: unknown) => (_req: Request, res: Response, next: (error: unknown) => void) => {
      res.statusMessage = 'Order Placed';
      res.set(described).set({ 'X-Request-Id': '7', 'Content-Language': 'de' });
      next(error);
    };
    const withProblems = (app: Express) => {
      app.use(problemDetails());
      return app;
    };
    const guard = () => idempotency({ store: new Keyv() });

    it('other headers, and none that describes its content; nor its reason phrase', async () => {
      const { url } = await serve(withProblems(framework().get('/', fail(httpError(404)))));
      const { status, reason, headers } = await send(url, { method: 'GET' });
      const others = { 'x-request-id': '7', 'content-language': 'de' };
      expect([status, reason, headers]).toEqual([404, 'Not Found', expect.objectContaining(others)]);
      for (const name of Object.keys(described)) expect(headers).not.toHaveProperty(name.toLowerCase());
    });

    it('none in its replay, behind idempotency()', async () => {
      const { url } = await serve(withProblems(framework().post('/', guard(), fail(httpError(404)))));
      const first = await send(url, { headers: keyed('k') });
      expect([first.reason, problemIn(first)]).toEqual(['Not Found', expect.objectContaining({ title: 'Not Found' })]);
      for (const name of Object.keys(described)) expect(first.headers).not.toHaveProperty(name.toLowerCase());
      expect(visibleReplay(await send(url, { headers: keyed('k') }))).toEqual(visible(first));
    });
  });

  describe.each(['production', 'test'])('with the setting env %s', env => {
    let printed: jest.SpyInstance;
    beforeEach(() => {
      printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    });
    afterEach(() => {
      printed.mockRestore();
    });
    const answerTo = async (error: unknown) => {
      const app = failing(framework, error);
      const response = await ask(app.set('env', env), { path });
      return { problem: problemIn(response), headers: response.headers };
    };

    it.each<[string, unknown, number, string]>([
      ['an error of the application', new Error('secret'), 500, 'Internal Server Error'],
      ['an error of a parser of forms', new multer.MulterError('LIMIT_FILE_SIZE'), 500, 'Internal Server Error'],
      ['a status without expose from 500 on', httpError(503, { expose: undefined }), 503, 'Service Unavailable'],
      ['an expose that is neither true nor false', httpError(503, { expose: 'no' }), 503, 'Service Unavailable'],
      ['a status that is no error', httpError(200), 500, 'Internal Server Error'],
      ['a status that is no number', httpError(404, { status: '404', expose: true }), 500, 'Internal Server Error'],
      ['text', 'secret', 500, 'Internal Server Error'],
      ['503 of http-errors', createError(503, 'secret', { code: 'secret' }), 503, 'Service Unavailable'],
      ['a class of http-errors', new createError.InternalServerError('secret'), 500, 'Internal Server Error'],
      ['another error that has become one', createError(502, new Error('secret')), 502, 'Bad Gateway'],
      ['a 4xx that is not to be exposed', createError(403, 'secret', { expose: false }), 403, 'Forbidden'],
    ])('%s is a problem without its text, which is printed as by Express', async (_what, error, status, title) => {
      const { problem } = await answerTo(error);
      expect(problem).toEqual({ type: 'about:blank', title, status, instance: '/a/b' });
      const text = (error as Partial<Error>).stack ?? error;
      expect(printed.mock.calls).toEqual(env === 'test' ? [] : [[text]]);
    });

    it.each<[string, object, object]>([
      [
        'of http-errors: its type, title, code and members',
        createError(409, 'Only 3 are left.', {
          ...{ type: 'https://shop.example/out-of-stock', title: 'Out of stock', code: 'out-of-stock' },
          ...{ left: 3, skus: ['a', 'b'], headers: { 'Retry-After': '7' } },
        }),
        {
          ...{ type: 'https://shop.example/out-of-stock', title: 'Out of stock', status: 409, code: 'out-of-stock' },
          ...{ detail: 'Only 3 are left.', left: 3, skus: ['a', 'b'] },
        },
      ],
      [
        'of its own with expose: true, from 500 on, too',
        createError(503, 'Closed on Sundays.', { expose: true }),
        { type: 'about:blank', title: 'Service Unavailable', status: 503, detail: 'Closed on Sundays.' },
      ],
      [
        'with a statusCode only',
        Object.assign(new Error('Gone.'), { statusCode: 410, code: 7 }),
        { type: 'about:blank', title: 'Gone', status: 410, detail: 'Gone.', code: 7 },
      ],
      [
        'of another service, without objects that may hold credentials',
        Object.assign(new Error('Request failed'), {
          ...{ status: 404, code: 'ERR_BAD_REQUEST', config: { headers: { Authorization: 'secret' } } },
          headers: { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked', 'content-length': '3' },
        }),
        { type: 'about:blank', title: 'Not Found', status: 404, detail: 'Request failed', code: 'ERR_BAD_REQUEST' },
      ],
      [
        'of body-parser, without the body',
        createError(400, 'Unexpected token s in JSON at position 9', { type: 'entity.parse.failed', body: 'secret' }),
        {
          type: 'about:blank',
          title: 'Bad Request',
          status: 400,
          detail: 'The body could not be parsed at position 9.',
        },
      ],
    ])('an error is a problem with what it exposes: one %s', async (_what, error, expected) => {
      expect((await answerTo(error)).problem).toEqual({ ...expected, instance: '/a/b' });
      expect(printed).not.toHaveBeenCalled();
    });
  });

  it('the 401 of express-oauth2-jwt-bearer stays one, with its headers', async () => {
    const app = framework();
    app.use(
      auth({ issuer: 'https://issuer.example/', audience: 'shop', secret: 'x'.repeat(32), tokenSigningAlg: 'HS256' }),
    );
    app.use(problemDetails());
    for (const [headers, challenge] of [
      [{}, 'Bearer realm="api"'],
      [{ Authorization: 'Bearer nonsense' }, 'error="invalid_token"'],
    ] as const) {
      const response = await ask(app, { path, headers });
      expect(response.headers['www-authenticate']).toContain(challenge);
      expect(problemIn(response)).toMatchObject({ type: 'about:blank', title: 'Unauthorized', status: 401 });
    }
  });

  it('an error after the head has been sent goes on', async () => {
    let seen: unknown;
    const app = framework();
    app.use((_req: Request, res: Response, next: (error: unknown) => void) => {
      res.write('begun');
      next(httpError(404));
    });
    app.use(problemDetails());
    app.use(((error, _req, res, next) => {
      if (!res.headersSent) return next(error);
      seen = error;
      res.end();
    }) as ErrorRequestHandler);
    const { status, text } = await ask(app);
    expect([status, text, seen instanceof Error]).toEqual([200, 'begun', true]);
  });
});

describe('onProblem', () => {
  it('takes over the answers of both middlewares', async () => {
    const seen: string[] = [];
    const configured = configure({
      onProblem: ({ code }, _req, res) => void (seen.push(code), res.status(418).end('mine')),
    });
    const app = express().post('/', configured.idempotency({ store: new Keyv() }), configured.bindRequest(Item));
    const [noKey, invalid] = [await ask(app), await ask(app, { key: 'k', json: {} })];
    for (const { status, text } of [noKey, invalid]) expect([status, text]).toEqual([418, 'mine']);
    expect(seen).toEqual(['key-missing', 'validation-failed']);
  });

  it.each<[string, unknown, string]>([
    ['an error', new Error('my own mistake'), 'my own mistake'],
    ['nothing', undefined, 'bindonce: a request was refused because code threw undefined. Throw an Error instead.'],
  ])('its rejection goes to Express, and is not left unhandled: %s', async (_what, reason, text) => {
    const { bindRequest: binds } = configure({
      onProblem: async () => {
        await new Promise(setImmediate);
        throw reason;
      },
    });
    const app = express().post('/', binds(Item), (_req, res) => {
      res.end('ran');
    });
    app.use(((error: Error, _req, res, next) => {
      if (res.headersSent) next(error);
      else res.status(500).end(error.message);
    }) as ErrorRequestHandler);
    const response = await ask(app);
    // Jest fails a test during which a rejection is left unhandled.
    await new Promise(setImmediate);
    expect([response.status, response.text]).toEqual([500, text]);
  });
});

it.each(expressVersions)('a path that cannot be decoded is a problem: %s', async (_name, framework) => {
  const app = framework().get('/:id', (_req, res) => {
    res.end('ran');
  });
  app.use(problemDetails());
  app.use(last);
  const response = await ask(app, { method: 'GET', path: '/%E0%A4%A' });
  expect(problemIn(response)).toMatchObject({
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    detail: expect.stringContaining('Failed to decode param') as string,
    instance: '/%E0%A4%A',
  });
});

describe('of another copy of the package,', () => {
  const copy = ((): typeof import('../../lib') => {
    let loaded: unknown;
    jest.isolateModules(() => {
      loaded = jest.requireActual('../../lib');
    });
    return loaded as typeof import('../../lib');
  })();

  it('a refusal that onProblem passes on is answered with its own problem', async () => {
    expect(copy.Problem).not.toBe(Problem);
    const { bindRequest: binds } = copy.configure({
      onProblem: (problem, _req, _res, next) => next(problem),
    });
    const app = express().post('/', binds(copy.dto({ n: copy.int })), (_req, res) => {
      res.end('ran');
    });
    app.use(problemDetails()).use(last);
    expect(problemIn(await ask(app, { json: {} }))).toMatchObject({
      type: 'urn:bindonce:validation-failed',
      errors: [{ name: 'n' }],
    });
  });

  it('a problem that queryValue() has answered is not passed on to later error handlers', async () => {
    const passed: unknown[] = [];
    const app = express().get('/', req => {
      copy.queryValue(req, 'n', copy.int);
    });
    app.use(problemDetails()).use(((error, _req, _res, next) => {
      passed.push(error);
      next(error);
    }) as ErrorRequestHandler);
    expect(problemIn(await ask(app, { method: 'GET' }))).toMatchObject({ type: 'urn:bindonce:validation-failed' });
    expect(passed).toEqual([]);
  });
});
