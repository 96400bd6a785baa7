import { bool, dto, field, hasPermission, string, type Claims } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

const lacking = [{ name: 'orders:discount', in: 'permission', detail: 'The caller does not have this permission.' }];

class InShape extends dto({ may: hasPermission('orders:discount'), note: field(string, { required: false }) }) {}
class Decorated {
  @hasPermission('orders:discount') may!: boolean;
  @field(string, { required: false }) note?: string | undefined;
}
const required = [
  ['dto({...})', InShape],
  ['a decorator', Decorated],
] as const;

describe.each(expressVersions)('hasPermission on %s', (_version, framework) => {
  describe.each(required)('in %s', (_notation, Dto) => {
    it.each<[string, Claims]>([
      ['the permissions claim', { permissions: ['orders:read', 'orders:discount'] }],
      ['the scope claim', { scope: 'orders:read orders:discount' }],
    ])('is true when the principal has the permission: %s', async (_where, user) => {
      expect(await bind(Dto, {}, { framework, user })).toMatchObject({ status: 200, dto: { may: true } });
    });

    it.each<[string, Claims | undefined]>([
      ['nobody is logged in', undefined],
      ['no permission', {}],
      ['another one', { permissions: ['orders:read'] }],
      ['the same in another case', { permissions: ['Orders:Discount'] }],
    ])('is a 400 that lists it when the principal lacks it: %s', async (_why, user) => {
      expect(await bind(Dto, {}, { framework, ...(user && { user }) })).toMatchObject({
        status: 400,
        dto: undefined,
        errors: lacking,
      });
    });
  });
});

describe('hasPermission with required: false', () => {
  class InShapeToo extends dto({ may: hasPermission('orders:discount', { required: false }) }) {}
  class DecoratedToo {
    @hasPermission('orders:discount', { required: false }) may!: boolean;
  }
  class Initialised {
    @hasPermission('orders:discount', { required: false }) may = true;
  }

  it.each([
    ['dto({...})', InShapeToo],
    ['a decorator', DecoratedToo],
    ['a decorator and an initialiser', Initialised],
  ])('lets the handler run, with true or false: %s', async (_notation, Dto) => {
    expect((await bind<typeof InShapeToo>(Dto, {}, { user: { permissions: [] } })).dto).toEqual({ may: false });
    expect((await bind<typeof InShapeToo>(Dto)).dto).toEqual({ may: false });
    expect((await bind<typeof InShapeToo>(Dto, {}, { user: { permissions: ['orders:discount'] } })).dto).toEqual({
      may: true,
    });
  });
});

describe('an initialiser, which a compiler asks for, does not make a permission optional', () => {
  class Initialised {
    @hasPermission('orders:discount') may = false;
  }
  class SaidSo {
    @hasPermission('orders:discount', { required: true }) may = true;
  }
  class Extending extends dto({ may: hasPermission('orders:discount') }) {
    override may = false;
  }

  it.each([
    ['a decorator', Initialised],
    ['a decorator with required: true', SaidSo],
    ['a class that extends dto({...})', Extending],
  ])('with %s', async (_notation, Dto) => {
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

it.each<[string, Sent]>([
  ['JSON body', { json: { may: true, MAY: true, 'orders:discount': true, permissions: ['orders:discount'] } }],
  ['inherited JSON', { json: '{"__proto__":{"may":true,"permissions":["orders:discount"]}}' }],
  ['query', { path: '/?may=true&orders:discount=true&permissions=orders:discount' }],
  ['route', { path: '/true' }],
  [
    'form',
    {
      form: [
        ['may', 'true'],
        ['permissions', 'orders:discount'],
      ],
    },
  ],
  [
    'multipart form',
    {
      multipart: [
        ['may', 'true'],
        ['permissions', 'orders:discount'],
      ],
    },
  ],
  ['header', { headers: { may: 'true', permissions: 'orders:discount', scope: 'orders:discount' } }],
  ['cookie', { headers: { Cookie: 'may=true; permissions=orders:discount' } }],
])('no %s grants a permission', async (_source, sent) => {
  class Discount extends dto({
    may: hasPermission('orders:discount', { required: false }),
    note: field(string, { required: false }),
  }) {}
  const options = { allowFormData: { urlEncoded: true }, route: '/{:may}' } as const;
  expect((await bind(InShape, sent, options)).errors).toEqual(lacking);
  expect((await bind(Discount, sent, { ...options, user: { sub: 'a' } })).dto).toEqual({ may: false });
});

it('a permission without a name is refused where it is declared', () => {
  expect(() => hasPermission('')).toThrow('hasPermission takes the name of a permission');
});
