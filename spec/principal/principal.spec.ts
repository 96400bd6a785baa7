import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { bindRequest, dto, fromClaim, idempotency, int, type BindingOptions } from '../../lib';
import { ask } from '../support/ask';
import { expressVersions } from '../support/express-versions';
import { bind } from '../support/one-endpoint';

class Item extends dto({ n: int }) {}
const json = { n: 1 };
/** Callers without a compiler give any function. */
const answering = (answer: unknown): NonNullable<BindingOptions['claims']> =>
  (() => answer) as NonNullable<BindingOptions['claims']>;

describe.each(expressVersions)('where allowAnonymous is false, %s', (_name, framework) => {
  const closed = { framework, allowAnonymous: false };

  it.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['false', false],
    ['true', true],
    ['empty text', ''],
    ['text', 'alice'],
    ['a number', 1],
    ['an array', [{ sub: 'alice' }]],
  ])('claims that are %s refuse the request', async (_what, answer) => {
    const { status, dto: bound } = await bind(Item, { json }, { ...closed, claims: answering(answer) });
    expect([status, bound]).toEqual([401, undefined]);
  });

  it.each<[string, () => unknown]>([
    ['of claims', () => Promise.resolve({ sub: 'alice' })],
    ['of nobody', () => Promise.resolve(null)],
    ['of another kind', () => ({ then: () => undefined })],
  ])('claims that are a promise %s refuse the request: the application is told', async (_what, answer) => {
    const { status, response, dto: bound } = await bind(Item, { json }, { ...closed, claims: answering(answer()) });
    expect([status, response.text, bound]).toEqual([
      500,
      'bindRequest: `claims` returned a promise. Resolve the caller in an earlier middleware.',
      undefined,
    ]);
  });

  it('claims that are an object let their caller in, even if it is empty', async () => {
    expect((await bind(Item, { json }, { ...closed, claims: answering({}) })).dto).toEqual({ n: 1 });
  });
});

describe.each(expressVersions)('the caller, %s,', (_name, framework) => {
  class Who extends dto({ sub: fromClaim(int) }) {}

  it.each<[string, Record<string, unknown>, number]>([
    ['req.user where req.auth is empty', { auth: {}, user: { sub: 2 } }, 2],
    ['req.auth where it is not', { auth: { sub: 1 }, user: { sub: 2 } }, 1],
    [
      'req.auth.payload of a verified token',
      { auth: { payload: { sub: 1 }, header: {}, token: 't' }, user: { sub: 2 } },
      1,
    ],
    ['req.auth where req.user is text', { auth: { sub: 1 }, user: 'ann' }, 1],
  ])('is %s', async (_title, left, sub) => {
    const authenticate: RequestHandler = (req, _res, next) => {
      Object.assign(req, left);
      next();
    };
    expect((await bind(Who, {}, { framework, allowAnonymous: false, before: [authenticate] })).dto).toEqual({ sub });
  });
});

it('a promise of claims is refused, even if anonymous callers are accepted', async () => {
  class Who extends dto({ sub: fromClaim(int, { required: false }) }) {}
  expect((await bind(Who, {}, { claims: answering(Promise.resolve({ sub: 1 })) })).status).toBe(500);
});

it('a request that was not let in for a mistake of the application can be sent again', async () => {
  let caller: unknown = Promise.resolve({ sub: 'alice' });
  const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
    if (res.headersSent) next(error);
    else res.status(500).end();
  };
  const app = express()
    .post(
      '/',
      idempotency({ store: new Keyv() }),
      bindRequest(Item, { allowAnonymous: false, claims: () => answering(caller)({} as never) }),
      (_req, res) => {
        res.end('ran');
      },
    )
    .use(onError);
  expect((await ask(app, { key: 'k', json })).status).toBe(500);
  caller = { sub: 'alice' };
  expect((await ask(app, { key: 'k', json })).text).toBe('ran');
});
