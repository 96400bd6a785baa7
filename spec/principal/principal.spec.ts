import type { RequestHandler } from 'express';
import { dto, fromClaim, hasPermission, string, type BindingOptions, type Claims } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { bind } from '../support/one-endpoint';

/** Callers without a compiler give any function. */
const claimsBy = (answer: () => unknown) => ({ claims: answer as NonNullable<BindingOptions['claims']> });
const permissionsBy = (answer: () => unknown) => ({
  permissions: answer as NonNullable<BindingOptions['permissions']>,
});
/** Jest fails a test during which its rejection is left unhandled. */
const rejecting = (): Promise<never> => Promise.reject(new Error('no directory'));
const throwing = (): never => {
  throw new Error('no keys');
};
const optionally = { required: false } as const;
const token = (payload: object | undefined): object => ({ payload, header: {}, token: 't' });
const clerk = { sub: 'u1', isAuthenticated: true, permissions: ['refund'] };
class Account {
  get sub(): string {
    return 'u7';
  }
}

class Who extends dto({ sub: fromClaim(string, optionally), mayRefund: hasPermission('refund', optionally) }) {}

/** What is bound, or the status of the refusal; of an error, its message. */
async function outcomeOf(left: object, options: BindingOptions & { framework?: never } = {}): Promise<unknown> {
  const authenticate: RequestHandler = (req, _res, next) => {
    Object.assign(req, left);
    next();
  };
  const outcomes = expressVersions.map(async ([, framework]) => {
    const { status, dto: bound, response } = await bind(Who, {}, { framework, before: [authenticate], ...options });
    return status === 200 ? bound : status === 500 ? response.text : status;
  });
  const [first, second] = await Promise.all(outcomes);
  expect(second).toEqual(first);
  return first;
}
const closed = { allowAnonymous: false } as const;

describe('who calls, where a caller is required: what authentication has left on the request', () => {
  const nobody = 401;
  const noAuth = 'bindRequest: `req.auth` is a promise, or returns one. Resolve the caller in an earlier middleware.';

  it.each<[string, object, expected: unknown]>([
    ['nothing', {}, nobody],
    ['req.user where req.auth is empty', { auth: {}, user: { sub: 'b' } }, 'b'],
    ['req.auth where it is not', { auth: { sub: 'a' }, user: { sub: 'b' } }, 'a'],
    ['req.auth.payload of a verified token', { auth: token({ sub: 'a' }), user: { sub: 'b' } }, 'a'],
    ['req.auth where req.user is text', { auth: { sub: 'a' }, user: 'ann' }, 'a'],
    ['an id that is null', { auth: { userId: null, sessionId: null } }, nobody],
    ['an id that is undefined', { user: { id: undefined, name: 'none' } }, nobody],
    ['an empty req.user', { user: {} }, nobody],
    ['a token without a payload', { auth: token(undefined) }, nobody],
    ['isAuthenticated: false', { user: { isAuthenticated: false, role: 'guest' } }, nobody],
    ['isAuthenticated: false beside an id', { auth: { sub: 'a', isAuthenticated: false } }, nobody],
    ['claims without an id', { user: { role: 'admin' } }, undefined],
    ['claims without an id in req.auth', { auth: { role: 'admin' } }, undefined],
    ['a function that returns claims without an id', { auth: () => ({ role: 'admin' }) }, nobody],
    ['an id that a class has', { user: new Account() }, 'u7'],
    ['an id beside another that is null', { user: { id: null, sub: 'ann' } }, 'ann'],
    // As Clerk leaves it.
    [
      'a function that returns a caller who is signed out',
      { auth: () => ({ ...clerk, isAuthenticated: false }) },
      nobody,
    ],
    ['one of an earlier version', { auth: () => ({ userId: null, sessionId: null }) }, nobody],
    ...[{}, [clerk], 'u1', undefined, () => clerk].flatMap((returned): [string, object, unknown][] => [
      [`a function that returns ${typeof returned}`, { auth: () => returned }, nobody],
      [`req.user where it returns ${typeof returned}`, { auth: () => returned, user: { sub: 'u4' } }, 'u4'],
    ]),
    ...[() => Promise.resolve(clerk), rejecting, () => ({ then: (_use: unknown, fail: () => void) => fail() })].flatMap(
      (auth): [string, object, unknown][] => [
        ['a function that returns a promise', { auth }, noAuth],
        ['the same beside req.user', { auth, user: { sub: 'u4' } }, noAuth],
      ],
    ),
    ['a promise', { auth: Promise.resolve(clerk) }, noAuth],
    ['a function that throws', { auth: throwing, user: { sub: 'u4' } }, 'no keys'],
  ])('%s', async (_what, left, expected) => {
    const came = await outcomeOf(left, closed);
    expect(typeof came === 'object' ? (came as Who).sub : came).toEqual(expected);
  });

  it('a function is called on the request, and the caller has permissions', async () => {
    expect(await outcomeOf({ auth: () => clerk }, closed)).toEqual({ sub: 'u1', mayRefund: true });
    const auth = function (this: { id: string }): object {
      return token({ sub: this.id, scope: 'refund' });
    };
    expect(await outcomeOf({ auth, id: 'u2' }, closed)).toEqual({ sub: 'u2', mayRefund: true });
  });

  it('a promise is told of even if anonymous callers are accepted', async () => {
    expect(await outcomeOf({ auth: rejecting })).toBe(noAuth);
    expect(
      await outcomeOf(
        {},
        claimsBy(() => Promise.resolve(clerk)),
      ),
    ).toContain('`claims` returned a promise');
  });
});

it.each<[string, () => unknown, expected: unknown]>([
  ...[null, undefined, false, true, '', 'alice', 1, [{ sub: 'alice' }]].map((one): [string, () => unknown, unknown] => [
    JSON.stringify(one),
    () => one,
    401,
  ]),
  ['an empty object, which lets a caller in', () => ({}), { mayRefund: false }],
  ['claims', () => ({ sub: 'a', scope: 'refund' }), { sub: 'a', mayRefund: true }],
  ...[() => Promise.resolve({}), () => Promise.resolve(null), () => ({ then: () => undefined }), rejecting].map(
    (answer): [string, () => unknown, unknown] => [
      'a promise',
      answer,
      'bindRequest: `claims` returned a promise. Resolve the caller in an earlier middleware.',
    ],
  ),
])('claims(req) may return %s', async (_what, answer, expected) => {
  expect(await outcomeOf({}, { ...closed, ...claimsBy(answer) })).toEqual(expected);
});

const MUST = 'bindRequest: `permissions` must return the names of permissions, for example an array, not';
const PROMISE = `${MUST} a promise. Look them up in an earlier middleware.`;

it.each<[string, () => unknown, expected: boolean | string]>([
  ['words', () => 'read refund', true],
  ['words with more space between', () => ' read  refund ', true],
  ['a list', () => ['read', 'refund'], true],
  ['a Set', () => new Set(['refund']), true],
  ['a part of a word', () => 'refunds', false],
  ['no words', () => '', false],
  ['nothing', () => undefined, false],
  ['a promise', async () => ['refund'], PROMISE],
  ['a promise that is rejected', rejecting, PROMISE],
  ['an object', () => ({ refund: true }), `${MUST} object.`],
  ['a number', () => 7, `${MUST} number.`],
])('permissions(req) may return %s', async (_what, answer, expected) => {
  const came = await outcomeOf({ user: { permissions: ['refund'] } }, permissionsBy(answer));
  expect(typeof came === 'object' ? (came as Who).mayRefund : came).toBe(expected);
});

it.each<[string, object, held: boolean]>([
  ['permissions', { permissions: ['read', 'refund'] }, true],
  ['Permissions', { Permissions: ['refund'] }, true],
  ['Scope', { Scope: 'read refund' }, true],
  ['the exact one before another', { Permissions: ['refund'], permissions: ['read'] }, false],
  ['a scope that is a list', { scope: ['read', 'refund', 3] }, true],
  ['no permissions before a scope that is a list', { permissions: null, scope: ['refund'] }, true],
  ['permissions before a scope that is a list', { permissions: [], scope: ['refund'] }, false],
  ['one in another case before the scope', { PERMISSIONS: ['read'], scope: 'refund' }, false],
  [
    'a getter',
    Object.create({
      get permissions() {
        return ['refund'];
      },
    }) as object,
    true,
  ],
])('the claim with permissions is found in any case: %s', async (_name, user, held) => {
  expect(
    await outcomeOf(
      {},
      claimsBy(() => user as Claims),
    ),
  ).toMatchObject({ mayRefund: held });
});
