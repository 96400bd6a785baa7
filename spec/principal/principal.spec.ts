import type { RequestHandler } from 'express';
import { dto, fromClaim, hasPermission, int, string, type BindingOptions } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { bind } from '../support/one-endpoint';

class Item extends dto({ n: int }) {}
const json = { n: 1 };
/** Callers without a compiler give any function. */
const answering = (answer: unknown): NonNullable<BindingOptions['claims']> => answeredBy(() => answer);
const answeredBy = (answer: () => unknown) => answer as NonNullable<BindingOptions['claims']>;
/** What an authentication leaves on the request. */
const leaving =
  (left: object): RequestHandler =>
  (req, _res, next) =>
    next(void Object.assign(req, left));
/** Jest fails a test during which its rejection is left unhandled. */
const rejecting = (): Promise<never> => Promise.reject(new Error('no directory'));

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
    ['that is rejected', rejecting],
  ])('claims that are a promise %s refuse the request: the application is told', async (_what, answer) => {
    const { status, response, dto: bound } = await bind(Item, { json }, { ...closed, claims: answeredBy(answer) });
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
    expect((await bind(Who, {}, { framework, allowAnonymous: false, before: [leaving(left)] })).dto).toEqual({ sub });
  });
});

describe.each(expressVersions)('where callers are required, %s,', (_name, framework) => {
  class Account {
    get id(): number {
      return 7;
    }
  }

  it.each<[string, Record<string, unknown>, number]>([
    ['an id that is null', { auth: { userId: null, sessionId: null } }, 401],
    ['an id that is undefined', { user: { id: undefined, name: 'none' } }, 401],
    ['an empty req.auth', { auth: {} }, 401],
    ['an empty req.user', { user: {} }, 401],
    ['a token without a payload', { auth: { payload: undefined, header: {}, token: '' } }, 401],
    ['isAuthenticated: false', { user: { isAuthenticated: false, role: 'guest' } }, 401],
    ['isAuthenticated: false beside an id', { auth: { id: 1, isAuthenticated: false } }, 401],
    ['claims without an id', { user: { role: 'admin' } }, 200],
    ['an id that a class has', { user: new Account() }, 200],
    ['an id beside another that is null', { user: { id: null, sub: 'ann' } }, 200],
  ])('%s: %j gets %d', async (_what, left, expected) => {
    const options = { framework, allowAnonymous: false, before: [leaving(left)] };
    expect((await bind(Item, { json }, options)).status).toBe(expected);
  });
});

describe.each(expressVersions)('req.auth that is a function, as Clerk leaves it, %s:', (_name, framework) => {
  class Who extends dto({ userId: fromClaim(string), mayRefund: hasPermission('refund', { required: false }) }) {}
  const caller = { userId: 'u1', isAuthenticated: true, permissions: ['refund'] };
  /** Binds a request on which an authentication has left these. */
  const withCaller = async (left: object, options: BindingOptions = { allowAnonymous: false }) => {
    const before = [leaving(left)];
    const { status, dto: bound, response } = await bind(Who, {}, { framework, before, ...options });
    return status === 200 ? bound : [status, status === 500 ? response.text : undefined];
  };

  it('the caller is what it returns, with claims and permissions', async () => {
    expect(await withCaller({ auth: () => caller })).toEqual({ userId: 'u1', mayRefund: true });
  });

  it('it is called on the request, and of a token that it returns, the payload is the caller', async () => {
    const auth = function (this: { token: string }): object {
      return { payload: { sub: 's', userId: this.token, scope: 'refund' }, header: {}, token: 't' };
    };
    expect(await withCaller({ auth, token: 'u2' })).toEqual({ userId: 'u2', mayRefund: true });
  });

  it.each<[string, unknown]>([
    ['a caller who is signed out', { userId: null, isAuthenticated: false }],
    ['a caller who is signed out, of an earlier version', { userId: null, sessionId: null }],
    ['an empty object', {}],
    ['an array', [caller]],
    ['text', 'u1'],
    ['undefined', undefined],
    ['another function', () => caller],
  ])('%s is not let in, unless req.user has a caller', async (_what, returned) => {
    const auth = (): unknown => returned;
    expect(await withCaller({ auth })).toEqual([401, undefined]);
    expect(await withCaller({ auth, user: { userId: 'u4' } })).toEqual({ userId: 'u4', mayRefund: false });
  });

  it.each<[string, unknown]>([
    ['a function that returns a promise', () => Promise.resolve(caller)],
    ['an asynchronous function that is rejected', rejecting],
    ['an asynchronous function that fails', () => ({ then: (_use: unknown, fail: () => void) => fail() })],
    ['a promise itself', Promise.resolve(caller)],
  ])('%s lets nobody in: the application is told', async (_what, auth) => {
    const refusal = [
      500,
      'bindRequest: `req.auth` is a promise, or returns one. Resolve the caller in an earlier middleware.',
    ];
    expect(await withCaller({ auth })).toEqual(refusal);
    expect(await withCaller({ auth, user: { userId: 'u4' } })).toEqual(refusal);
    expect(await withCaller({ auth }, {})).toEqual(refusal);
  });

  it('its error is the error of the request, and lets nobody in', async () => {
    const auth = (): never => {
      throw new Error('no keys');
    };
    expect(await withCaller({ auth })).toEqual([500, 'no keys']);
    expect(await withCaller({ auth, user: { userId: 'u4' } }, {})).toEqual([500, 'no keys']);
  });
});

it('a promise of claims is refused, even if anonymous callers are accepted', async () => {
  class Who extends dto({ sub: fromClaim(int, { required: false }) }) {}
  expect((await bind(Who, {}, { claims: answering(Promise.resolve({ sub: 1 })) })).status).toBe(500);
});
