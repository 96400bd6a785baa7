import {
  bool,
  double,
  dto,
  enumOf,
  field,
  fromClaim,
  guid,
  int,
  list,
  string,
  type AnyType,
  type Claims,
  hasPermission,
} from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';
import { expressVersions } from '../../support/express-versions';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

class Address extends dto({ street: string, floor: int }) {}

const HOME = { street: 'Main, 1', floor: 2 };
const WORK = { street: 'Side', floor: 0 };

describe('fromClaim binds a claim by its type', () => {
  const claimed = async (type: AnyType, value: unknown): Promise<unknown> => {
    class Caller extends dto({ v: fromClaim(type) }) {}
    const { status, dto: bound } = await bind(Caller, {}, { user: { v: value } });
    return status === 200 ? bound?.v : status;
  };

  it("the claim type is the property's name, or the option name, in any case", async () => {
    class Caller extends dto({
      department: fromClaim(string),
      userId: fromClaim(guid, { name: 'sub' }),
      org: fromClaim(int, { name: 'https://shop.example/Org' }),
    }) {}
    const { dto: bound } = await bind(
      Caller,
      {},
      { user: { Department: 'tea', SUB: ID, 'https://shop.example/org': 7, userId: 'not this one' } },
    );
    expect(bound).toEqual({ department: 'tea', userId: ID, org: 7 });
  });

  it.each<[unknown, string, AnyType, unknown]>([
    ['a, b', 'string', string, 'a, b'],
    ['', 'string', string, ''],
    [7, 'string', string, '7'],
    [true, 'string', string, 'true'],
    ['7', 'int', int, 7],
    [7, 'int', int, 7],
    [['7'], 'int', int, 7],
    [0.5, 'double', double, 0.5],
    ['True', 'bool', bool, true],
    [false, 'bool', bool, false],
    [ID.toUpperCase(), 'guid', guid, ID],
    ['GOLD', 'enum', enumOf(['gold', 'silver']), 'gold'],
  ])('a scalar: %j as %s', async (value, _name, type, expected) => {
    expect(await claimed(type, value)).toEqual(expected);
  });

  it.each<[string, AnyType, unknown, unknown]>([
    ['several claims of one type', list(string), ['a', 'b'], ['a', 'b']],
    ['several numbers', list(int), [1, '2'], [1, 2]],
    ['several, commas and all', list(string), ['a,b', 'c'], ['a,b', 'c']],
    ['one claim', list(string), 'a', ['a']],
    ['one number', list(int), 7, [7]],
    ['one comma-separated value', list(string), 'a,b', ['a', 'b']],
    ['comma-separated numbers', list(int), '1,2', [1, 2]],
    ['comma-separated enums', list(enumOf(['x', 'y'])), 'X,y', ['x', 'y']],
  ])('a collection: %s', async (_shape, type, value, expected) => {
    expect(await claimed(type, value)).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['as text', JSON.stringify(HOME)],
    ['as it is in a token', HOME],
    ['with further fields', { ...HOME, extra: 1, __proto__: { street: 'x' } }],
  ])('a JSON object %s is an instance', async (_how, value) => {
    const address = await claimed(Address, value);
    expect(address).toEqual(HOME);
    expect(address).toBeInstanceOf(Address);
  });

  it.each<[string, AnyType, unknown, unknown]>([
    ['of scalars, as text', list(int), '[1,2]', [1, 2]],
    ['of texts with commas, as text', list(string), '["a,b","c"]', ['a,b', 'c']],
    ['of objects, as text', list(Address), JSON.stringify([HOME, WORK]), [HOME, WORK]],
    ['of objects, as it is in a token', list(Address), [HOME, WORK], [HOME, WORK]],
    ['of objects, each as text', list(Address), [HOME, WORK].map(one => JSON.stringify(one)), [HOME, WORK]],
    ['of nothing', list(Address), '[]', []],
  ])('a JSON array %s', async (_what, type, value, expected) => {
    expect(await claimed(type, value)).toEqual(expected);
  });

  it.each<[string, AnyType, unknown, string, string | undefined]>([
    ['text', int, 'x', 'v', undefined],
    ['several for a scalar', int, [1, 2], 'v', undefined],
    ['one item', list(int), '1,x', 'v[1]', undefined],
    ['a field of an object', Address, { street: 'a', floor: 'x' }, 'v.floor', '/floor'],
    ['a field of an object in text', list(Address), JSON.stringify([HOME, { street: 'a' }]), 'v[1].floor', '/1/floor'],
    ['broken JSON', Address, '{"street":', 'v', undefined],
  ])('an unreadable value is a failure under the claim type: %s', async (_what, type, value, name, pointer) => {
    class Caller extends dto({ own: fromClaim(type, { name: 'v' }) }) {}
    const {
      status,
      errors: [error, ...more],
    } = await bind(Caller, {}, { user: { v: value } });
    expect([status, error?.name, error?.in, error?.pointer, more]).toEqual([400, name, 'claim', pointer, []]);
  });
});

describe('a claim that the caller lacks', () => {
  class Required extends dto({
    tier: fromClaim(string, { name: 'plan' }),
    level: fromClaim(int, { required: true }),
  }) {}

  it.each<[string, Claims | undefined]>([
    ['nobody is logged in', undefined],
    ['it is not there', { sub: 'a' }],
    ['it is null', { plan: null, level: null }],
  ])('is a validation error while it is required: %s', async (_why, user) => {
    const {
      status,
      problem,
      dto: bound,
    } = await bind(Required, { path: '/?tier=gold&level=1&plan=gold' }, user ? { user } : {});
    expect([status, bound, problem?.type]).toEqual([400, undefined, 'urn:bindonce:validation-failed']);
    expect(problem?.errors).toEqual(
      ['plan', 'level'].map(name => ({ name, in: 'claim', detail: 'The caller does not have this claim.' })),
    );
  });

  class Loose extends dto({
    tier: fromClaim(string, { name: 'plan', required: false }),
    note: field(string, { required: false }),
  }) {}

  const json: Sent = { json: { tier: 'json', plan: 'no' } };
  const form: Sent = {
    form: 'tier=form&plan=no',
  };
  const sent: readonly [string, Sent, string | undefined][] = [
    ['nothing', {}, undefined],
    ['the JSON body', json, 'json'],
    ['a form', form, 'form'],
    ['the route over the JSON body', { ...json, path: '/route' }, 'route'],
    ['the route over a form', { ...form, path: '/route' }, 'route'],
    ['the query over all', { ...json, path: '/route?tier=query&plan=no' }, 'query'],
    ['no header and no cookie', { headers: { tier: 'no', plan: 'no', Cookie: 'tier=no; plan=no' } }, undefined],
  ];
  const options = { ...urlEncoded, route: '/{:tier}' } as const;

  it.each(sent)(
    'lets the handler run while it is not required, with the value of %s',
    async (_source, request, value) => {
      expect(await bind(Loose, request, { ...options, user: { sub: 'a' } })).toMatchObject({
        status: 200,
        dto: value === undefined ? {} : { tier: value },
      });
      expect((await bind(Loose, request, { ...options, user: { plan: 'claim' } })).dto?.tier).toBe('claim');
    },
  );
});

const lacking = [{ name: 'orders:discount', in: 'permission', detail: 'The caller does not have this permission.' }];

class InShape extends dto({ may: hasPermission('orders:discount'), note: field(string, { required: false }) }) {}

describe.each(expressVersions)('hasPermission on %s', (_version, framework) => {
  it.each<[string, Claims]>([
    ['the permissions claim', { permissions: ['orders:read', 'orders:discount'] }],
    ['the scope claim', { scope: 'orders:read orders:discount' }],
  ])('is true when the principal has the permission: %s', async (_where, user) => {
    expect(await bind(InShape, {}, { framework, user })).toMatchObject({ status: 200, dto: { may: true } });
  });

  it.each<[string, Claims | undefined]>([
    ['nobody is logged in', undefined],
    ['no permission', {}],
    ['another one', { permissions: ['orders:read'] }],
    ['the same in another case', { permissions: ['Orders:Discount'] }],
  ])('is a 400 that lists it when the principal lacks it: %s', async (_why, user) => {
    expect(await bind(InShape, {}, { framework, ...(user && { user }) })).toMatchObject({
      status: 400,
      dto: undefined,
      errors: lacking,
    });
  });
});

describe('an initialiser, which a compiler asks for, does not make a permission optional', () => {
  class Extending extends dto({ may: hasPermission('orders:discount') }) {
    override may = false;
  }

  it.each([['a class that extends dto({...})', Extending]])('with %s', async (_notation, Dto) => {
    expect(await bind<typeof Extending>(Dto, {}, { user: { permissions: [] } })).toMatchObject({
      status: 400,
      dto: undefined,
      errors: lacking,
    });
    expect((await bind<typeof Extending>(Dto, {}, { user: { permissions: ['orders:discount'] } })).dto).toEqual({
      may: true,
    });
  });
});

it('each of several permissions is checked, and reported together with all other failures', async () => {
  class Guarded extends dto({
    read: hasPermission('orders:read'),
    write: hasPermission('orders:write'),
    purge: hasPermission('orders:purge', { required: false }),
    rush: bool,
  }) {}
  const { status, errors } = await bind(Guarded, { json: { rush: 'x' } }, { user: { permissions: [] } });
  expect(status).toBe(400);
  expect(errors.map(({ name, in: source }) => [name, source])).toEqual([
    ['rush', 'json'],
    ['orders:read', 'permission'],
    ['orders:write', 'permission'],
  ]);
  expect(
    (await bind(Guarded, { json: { rush: true } }, { user: { permissions: ['orders:read', 'orders:write'] } })).dto,
  ).toEqual({ read: true, write: true, purge: false, rush: true });
});
