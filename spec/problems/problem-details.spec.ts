import { createRequire } from 'node:module';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { auth } from 'express-oauth2-jwt-bearer';
import { Keyv } from 'keyv';
import multer from 'multer';
import { configure, dto, idempotency, int, Problem, problemDetails } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { ask, problemIn } from '../support/ask';
import { errorAsText } from '../support/error-as-text';
import { send } from '../support/listen';
import { keyed, visible, visibleReplay } from '../support/replays';
import { serve } from '../support/serve';

/** The errors that Express, its routers and its body parsers make. */
const createError = createRequire(require.resolve('express'))('http-errors') as typeof import('http-errors');

class Item extends dto({ n: int }) {}
const path = '/a/b?secret=1';
const errorWith = (more: object, text = 'text of the error') => Object.assign(new Error(text), more);
const httpError = (status: number, more: object = {}) => errorWith({ status, expose: status < 500, ...more });
const ran = (_req: Request, res: Response): void => void res.end('ran');

function failing(framework: () => Express, error: unknown): Express {
  const app = framework();
  app.use((_req: Request, _res: Response, next: (error: unknown) => void) => {
    next(error);
  });
  return app.use(problemDetails(), errorAsText);
}

describe.each(expressVersions)('%s', (_name, framework) => {
  it('other headers than those that describe its content are those of the response that fails, also in a replay', async () => {
    const digest = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:';
    const described = {
      ...{ 'Content-Digest': digest, 'Repr-Digest': digest, Trailer: 'Content-Digest', 'Content-Encoding': 'gzip' },
      ...{ 'Content-Location': '/orders/7', 'Content-Range': 'bytes 0-9/10' },
      'Content-Disposition': 'attachment; filename="order.pdf"',
    };
    const fail = (_req: Request, res: Response, next: (error: unknown) => void) => {
      res.statusMessage = 'Order Placed';
      res.set(described).set({ 'X-Request-Id': '7', 'Content-Language': 'de' });
      next(httpError(404));
    };
    const app = framework()
      .get('/', fail)
      .post('/', idempotency({ store: new Keyv() }), fail);
    app.use(problemDetails());
    const { url } = await serve(app);
    const answers = [await send(url, { method: 'GET' }), await send(url, { headers: keyed('k') })] as const;
    for (const { status, reason, headers } of answers) {
      const others = { 'x-request-id': '7', 'content-language': 'de' };
      expect([status, reason, headers]).toEqual([404, 'Not Found', expect.objectContaining(others)]);
      for (const name of Object.keys(described)) expect(headers).not.toHaveProperty(name.toLowerCase());
    }
    expect(visibleReplay(await send(url, { headers: keyed('k') }))).toEqual(visible(answers[1]));
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
      const response = await ask(failing(framework, error).set('env', env), { path });
      expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
      return { problem: problemIn(response), headers: response.headers };
    };

    it.each<[string, unknown, number, string]>([
      ['an error of the application', new Error('secret'), 500, 'Internal Server Error'],
      ['an error of a parser of forms', new multer.MulterError('LIMIT_FILE_SIZE'), 500, 'Internal Server Error'],
      ['a status without expose from 500 on', errorWith({ status: 503 }), 503, 'Service Unavailable'],
      ['an expose that is neither true nor false', httpError(503, { expose: 'no' }), 503, 'Service Unavailable'],
      ['a status that is no error', httpError(200), 500, 'Internal Server Error'],
      ['a status that is no number', errorWith({ status: '404', expose: true }), 500, 'Internal Server Error'],
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

    it.each<[string, object, expected: object, title?: string]>([
      ['404', httpError(404), { status: 404, detail: 'text of the error' }, 'Not Found'],
      [
        'of a body parser',
        httpError(413, { type: 'entity.too.large' }),
        { status: 413, detail: 'text of the error' },
        'Payload Too Large',
      ],
      ['with a status without a name', httpError(499), { status: 499, detail: 'text of the error' }, 'Error'],
      [
        'of http-errors: its type, title, code and members',
        createError(409, 'Only 3 are left.', {
          ...{ type: 'https://shop.example/out-of-stock', title: 'Out of stock', code: 'out-of-stock' },
          ...{ left: 3, skus: ['a', 'b'] },
        }),
        {
          ...{ type: 'https://shop.example/out-of-stock', title: 'Out of stock', status: 409, code: 'out-of-stock' },
          ...{ detail: 'Only 3 are left.', left: 3, skus: ['a', 'b'] },
        },
      ],
      [
        'with expose: true, from 500 on, too',
        createError(503, 'Closed on Sundays.', { expose: true }),
        { status: 503, detail: 'Closed on Sundays.' },
        'Service Unavailable',
      ],
      [
        'with a statusCode only',
        errorWith({ statusCode: 410, code: 7 }, 'Gone.'),
        { status: 410, detail: 'Gone.', code: 7 },
        'Gone',
      ],
      [
        'of another service, without objects that may hold credentials',
        errorWith({
          ...{ status: 404, code: 'ERR_BAD_REQUEST', config: { headers: { Authorization: 'secret' } } },
          headers: { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked', 'content-length': '3' },
        }),
        { status: 404, detail: 'text of the error', code: 'ERR_BAD_REQUEST' },
        'Not Found',
      ],
      [
        'of body-parser, without the body',
        createError(400, 'Unexpected token s in JSON at position 9', { type: 'entity.parse.failed', body: 'secret' }),
        { status: 400, detail: 'The body could not be parsed at position 9.' },
        'Bad Request',
      ],
    ])('an error is a problem with what it exposes: one %s', async (...[, error, expected, title]) => {
      const plain = title === undefined ? {} : { type: 'about:blank', title };
      expect((await answerTo(error)).problem).toEqual({ ...plain, ...expected, instance: '/a/b' });
      expect(printed).not.toHaveBeenCalled();
    });

    it('the headers that an error carries are sent', async () => {
      const { problem, headers } = await answerTo(httpError(429, { headers: { 'Retry-After': '7' } }));
      expect([problem?.status, headers['retry-after']]).toEqual([429, '7']);
    });
  });

  it('the 401 of express-oauth2-jwt-bearer stays one, with its headers', async () => {
    const issuer = 'https://issuer.example/';
    const app = framework();
    app.use(auth({ issuer, audience: 'shop', secret: 'x'.repeat(32), tokenSigningAlg: 'HS256' }), problemDetails());
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
    const end: ErrorRequestHandler = (error, _req, res, next) => {
      if (!res.headersSent) return next(error);
      seen = error;
      res.end();
    };
    app.use(problemDetails(), end);
    const { status, text } = await ask(app);
    expect([status, text, seen instanceof Error]).toEqual([200, 'begun', true]);
  });

  it('a path that cannot be decoded is a problem', async () => {
    const app = framework().get('/:id', ran).use(problemDetails(), errorAsText);
    const response = await ask(app, { method: 'GET', path: '/%E0%A4%A' });
    expect(problemIn(response)).toMatchObject({
      ...{ type: 'about:blank', title: 'Bad Request', status: 400, instance: '/%E0%A4%A' },
      detail: expect.stringContaining('Failed to decode param') as string,
    });
  });
});

describe('onProblem', () => {
  it('takes over the answers of both middlewares', async () => {
    const seen: string[] = [];
    const configured = configure({
      onProblem: (problem, _req, res) => {
        seen.push(problem.code);
        res.statusCode = 418;
        res.end('mine');
      },
    });
    const app = express().post('/', configured.idempotency({ store: new Keyv() }), configured.bindRequest(Item));
    const mine = { status: 418, text: 'mine' };
    expect([await ask(app), await ask(app, { key: 'k', json: {} })]).toMatchObject([mine, mine]);
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
    const response = await ask(express().post('/', binds(Item), ran).use(errorAsText));
    // Jest fails a test during which a rejection is left unhandled.
    await new Promise(setImmediate);
    expect([response.status, response.text]).toEqual([500, text]);
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
    const { bindRequest: binds } = copy.configure({ onProblem: (problem, _req, _res, next) => next(problem) });
    const app = express().post('/', binds(copy.dto({ n: copy.int })), ran);
    expect(problemIn(await ask(app.use(problemDetails(), errorAsText), { json: {} }))).toMatchObject({
      type: 'urn:bindonce:validation-failed',
      errors: [{ name: 'n' }],
    });
  });

  it('a problem that queryValue() has answered is not passed on to later error handlers', async () => {
    const passed: unknown[] = [];
    const app = express().get('/', req => void copy.queryValue(req, 'n', copy.int));
    const late: ErrorRequestHandler = (error, _req, _res, next) => {
      passed.push(error);
      next(error);
    };
    const answer = await ask(app.use(problemDetails(), late), { method: 'GET' });
    expect(problemIn(answer)).toMatchObject({ type: 'urn:bindonce:validation-failed' });
    expect(passed).toEqual([]);
  });
});
