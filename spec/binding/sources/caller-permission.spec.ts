import { dto, hasPermission, int } from '../../../lib';
import { bind } from '../../support/one-endpoint';

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
