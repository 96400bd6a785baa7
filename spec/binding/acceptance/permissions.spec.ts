import { bool, dto, field, hasPermission, string, type BindingOptions, type Claims } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { bind, failures, outcome } from '../../support/one-endpoint';

class InShape extends dto({ may: hasPermission('orders:discount'), note: field(string, { required: false }) }) {}
const lacking = [{ name: 'orders:discount', in: 'permission', detail: 'The caller does not have this permission.' }];

describe.each(expressVersions)('hasPermission on %s', (_version, framework) => {
  it('is true when the principal has the permission', async () => {
    const permissions = { permissions: () => new Set(['orders:discount']) };
    for (const has of [{ user: { scope: 'orders:read orders:discount' } }, permissions])
      expect(await outcome(InShape, {}, { framework, ...has })).toEqual({ may: true });
  });

  it.each<[string, BindingOptions & { user?: Claims }]>([
    ['nobody is logged in', {}],
    ['no permission', { user: {} }],
    ['another one', { user: { permissions: ['orders:read'] } }],
    ['the same in another case', { user: { permissions: ['Orders:Discount'] } }],
    ['the application says otherwise', { user: { permissions: ['orders:discount'] }, permissions: () => [] }],
  ])('is a 400 that lists it when the principal lacks it: %s', async (_why, options) => {
    const { status, dto: bound, errors } = await bind(InShape, {}, { framework, ...options });
    expect([status, bound, errors]).toEqual([400, undefined, lacking]);
  });
});

it('an initialiser, which a compiler asks for, does not make a permission optional', async () => {
  class Extending extends dto({ may: hasPermission('orders:discount') }) {
    override may = false;
  }
  expect((await bind(Extending, {}, { user: { permissions: [] } })).errors).toEqual(lacking);
  expect(await outcome(Extending, {}, { user: { permissions: ['orders:discount'] } })).toEqual({ may: true });
});

it('each of several is checked, and reported with all other failures', async () => {
  class Guarded extends dto({
    read: hasPermission('orders:read'),
    write: hasPermission('orders:write'),
    purge: hasPermission('orders:purge', { required: false }),
    rush: bool,
  }) {}
  expect(await failures(Guarded, { json: { rush: 'x' } }, { user: { permissions: [] } })).toEqual([
    'json rush',
    'permission orders:read',
    'permission orders:write',
  ]);
  const user = { permissions: ['orders:read', 'orders:write'] };
  const bound = { read: true, write: true, purge: false, rush: true };
  expect(await outcome(Guarded, { json: { rush: true } }, { user })).toEqual(bound);
});
