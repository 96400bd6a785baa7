import { bool, dto, field, hasPermission, string, type Claims } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { bind } from '../../support/one-endpoint';

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
