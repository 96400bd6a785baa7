import { dto, hasPermission, int, type Claims } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Discount extends dto({
  may: hasPermission('orders:discount'),
  also: hasPermission('orders:read', { required: false }),
  percent: int,
}) {}
const sent = { json: { percent: 5 } };

it.each<[string, Claims | undefined, boolean]>([
  ['a list of permissions', { permissions: ['orders:discount', 'orders:read'] }, true],
  ['one permission as text', { permissions: 'orders:discount' }, false],
  ['a scope', { scope: 'openid orders:discount  orders:read' }, true],
  ['permissions before the scope', { permissions: ['orders:discount'], scope: 'orders:read' }, false],
])('is true when the principal has it: %s', async (_how, user, also) => {
  expect((await bind(Discount, sent, { ...(user && { user }) })).dto).toEqual({ may: true, also, percent: 5 });
});

it.each<[string, Claims | undefined]>([
  ['no principal', undefined],
  ['no permissions', {}],
  ['another one', { permissions: ['orders:read'] }],
  ['another case', { permissions: ['Orders:Discount'] }],
  ['a longer one', { permissions: ['orders:discount:x'] }],
  ['a scope that contains it', { scope: 'xorders:discount' }],
  ['a list where text is expected', { scope: ['orders:discount'] }],
  ['values that are no text', { permissions: [{ toString: () => 'orders:discount' }, 1, null] }],
])('is a failure when it is required and the principal lacks it: %s', async (_what, user) => {
  const { status, errors } = await bind(Discount, sent, { ...(user && { user }) });
  expect({ status, errors }).toEqual({
    status: 400,
    errors: [{ name: 'orders:discount', in: 'permission', detail: 'The caller does not have this permission.' }],
  });
});

const forged: readonly [string, Sent][] = [
  [
    'the JSON body',
    {
      json: {
        percent: 5,
        may: true,
        also: true,
        'orders:discount': true,
        permissions: ['orders:discount'],
        scope: 'orders:read',
      },
    },
  ],
  [
    'the query',
    { path: '/?percent=5&may=true&also=true&orders:discount=true&permissions=orders:discount&scope=orders:read' },
  ],
  ['the route', { path: '/true', json: { percent: 5 } }],
  [
    'a form',
    {
      form: [
        ['percent', '5'],
        ['may', 'true'],
        ['also', 'true'],
        ['permissions', 'orders:discount'],
      ],
    },
  ],
  [
    'headers and cookies',
    {
      json: { percent: 5 },
      headers: {
        may: 'true',
        also: 'true',
        permissions: 'orders:discount',
        scope: 'orders:read',
        Cookie: 'may=true; also=true',
      },
    },
  ],
];

it.each(forged)('cannot be set from %s', async (_source, request) => {
  const options = { route: '/{:also}', allowFormData: { urlEncoded: true } } as const;
  expect((await bind(Discount, request, options)).errors).toEqual([
    { name: 'orders:discount', in: 'permission', detail: 'The caller does not have this permission.' },
  ]);
  expect((await bind(Discount, request, { ...options, user: { permissions: ['orders:discount'] } })).dto).toEqual({
    may: true,
    also: false,
    percent: 5,
  });
});

it('a value that a client sends under its name is not read', async () => {
  const request: Sent = { path: '/x?may=x&also=x', json: { percent: 5, may: 'x', also: [] } };
  expect((await bind(Discount, request, { route: '/:also', user: { permissions: ['orders:discount'] } })).dto).toEqual({
    may: true,
    also: false,
    percent: 5,
  });
});

it('comes from where the application says', async () => {
  const permissions = (req: object): Iterable<string> =>
    (req as { user?: { roles?: string[] } }).user?.roles?.map(role => `orders:${role}`) ?? [];
  expect(
    (await bind(Discount, sent, { permissions, user: { roles: ['discount'], permissions: ['orders:read'] } })).dto,
  ).toEqual({ may: true, also: false, percent: 5 });
  expect((await bind(Discount, sent, { claims: () => ({ scope: 'orders:discount' }) })).dto?.may).toBe(true);
});
