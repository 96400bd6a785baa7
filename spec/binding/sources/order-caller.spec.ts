import type { RequestHandler } from 'express';
import { z } from 'zod';
import {
  dateTime,
  dto,
  fromClaim,
  guid,
  int,
  list,
  long,
  nullable,
  string,
  type AnyType,
  type Property,
  hasPermission,
} from '../../../lib';
import { bind } from '../../support/one-endpoint';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

it('a claim that is an empty array is missing, and no value that the client sends replaces it', async () => {
  class Loose extends dto({
    v: fromClaim(string, { required: false }),
    all: fromClaim(list(string)),
    any: fromClaim(z.any()),
  }) {}
  const { dto: bound } = await bind(Loose, { path: '/?v=forged' }, { user: { v: [], all: [], any: [] } });
  expect(bound).toEqual({ all: [], any: [] });
  class Strict extends dto({ v: fromClaim(string) }) {}
  expect((await bind(Strict, { path: '/?v=forged' }, { user: { v: [] } })).errors).toEqual([
    { name: 'v', in: 'claim', detail: 'The caller does not have this claim.' },
  ]);
});

describe('where the principal is', () => {
  class Who extends dto({ sub: fromClaim(string), iat: fromClaim(dateTime, { required: false }) }) {}

  it.each<[string, object]>([
    ['req.auth.payload', { auth: { payload: { sub: 'a' }, header: {}, token: 't' }, user: { sub: 'b' } }],
    ['req.auth', { auth: { sub: 'a' }, user: { sub: 'b' } }],
    ['req.user', { user: { sub: 'a' } }],
  ])('%s', async (_where, principal) => {
    expect(
      (
        await bind(
          Who,
          {},
          {
            before: [
              (req, _res, next) => {
                Object.assign(req, principal);
                next();
              },
            ],
          },
        )
      ).dto?.sub,
    ).toBe('a');
  });
});

describe('claims', () => {
  class User {
    constructor(private readonly account: { id: string; level: number }) {}
    get sub(): string {
      return this.account.id;
    }
    get Level(): number {
      return this.account.level;
    }
  }

  it("can be the getters of a user's class, under their exact names, but not the members of every object", async () => {
    class Who extends dto({ userId: fromClaim(guid, { name: 'sub' }), level: fromClaim(int, { name: 'Level' }) }) {}
    class Odd extends dto({ made: fromClaim(string, { name: 'constructor' }) }) {}
    const before: RequestHandler[] = [
      (req, _res, next) => {
        Object.assign(req, { user: new User({ id: ID, level: 3 }) });
        next();
      },
    ];
    expect((await bind(Who, {}, { before })).dto).toEqual({ userId: ID, level: 3 });
    expect((await bind(Odd, {}, { before })).errors).toEqual([
      { name: 'constructor', in: 'claim', detail: 'The caller does not have this claim.' },
    ]);
  });

  it.each<[string, AnyType, unknown, unknown]>([
    ['an object', dto({ city: string }), { city: 'x' }, { city: 'x' }],
    ['a number that a parser may have rounded elsewhere', long, 1234567890123456, 1234567890123456n],
    ['a Date', dateTime, new Date(0), new Date(0)],
    ['a class that is text in JSON', string, { toJSON: () => 'a1' }, 'a1'],
  ])('can be an array of one, whatever is in it: %s', async (_what, type, value, expected) => {
    class Both extends dto({ v: fromClaim(type), all: fromClaim(list(type), { name: 'v' }) }) {}
    const one = (await bind(Both, {}, { user: { v: [value] } })).dto;
    expect(one).toEqual({ v: expected, all: [expected] });
    expect(one).toEqual((await bind(Both, {}, { user: { v: value } })).dto);
  });
});

describe('a claim that the caller has is not replaced by what the client sends', () => {
  it.each<[string, Property<unknown>, unknown, unknown]>([
    [
      'read as undefined by a schema',
      fromClaim(z.enum(['admin']).optional().catch(undefined), { required: false }),
      'user',
      undefined,
    ],
    [
      'read as undefined later',
      fromClaim(
        z.string().transform(async () => Promise.resolve(undefined)),
        { required: false },
      ),
      'user',
      undefined,
    ],
    ['empty', fromClaim(int, { required: false }), '', undefined],
    ['null, where the type takes it', fromClaim(nullable(int), { required: false }), null, null],
  ])('%s', async (_how, property, claimed, expected) => {
    class Who extends dto({ role: property }) {}
    for (const role of ['admin', 9]) {
      const { status, dto: bound } = await bind(Who, { json: { role } }, { user: { role: claimed } });
      if (status === 200) expect(bound?.role).toBe(expected);
      else expect(status).toBe(400);
    }
  });
});

class Discount extends dto({
  may: hasPermission('orders:discount'),
  also: hasPermission('orders:read', { required: false }),
  percent: int,
}) {}
const sent = { json: { percent: 5 } };

it('comes from where the application says', async () => {
  const permissions = (req: object): Iterable<string> =>
    (req as { user?: { roles?: string[] } }).user?.roles?.map(role => `orders:${role}`) ?? [];
  expect(
    (await bind(Discount, sent, { permissions, user: { roles: ['discount'], permissions: ['orders:read'] } })).dto,
  ).toEqual({ may: true, also: false, percent: 5 });
  expect((await bind(Discount, sent, { claims: () => ({ scope: 'orders:discount' }) })).dto?.may).toBe(true);
});
