import { NodeProcess } from '../../support/servers/node-process';
import { bearer, example, isReplay, post, SECRET } from './example';

const tea = { items: [{ sku: 'tea', quantity: 2 }] };

describe('the example for NestJS', () => {
  let shop: NodeProcess;

  beforeEach(async () => {
    shop = await NodeProcess.start(example('dist/nestjs/main.js'), { JWT_SECRET: SECRET });
  });
  afterEach(async () => {
    await shop.kill();
    expect(shop.output.filter(line => line.includes('BINDONCE'))).toEqual([]);
  });

  const order = (claims: object, json: unknown = tea) =>
    post(shop, '/customers/42/orders', { key: 'one', authorization: bearer(claims), json });
  const refund = (authorization: string) => post(shop, '/refunds', { key: 'one', authorization });

  it('places an order once for each caller, who is known before the guards run', async () => {
    const ann = { sub: 'ann', role: 'customer' };
    const [first, retry, other] = [await order(ann), await order(ann), await order({ ...ann, sub: 'bob' })];
    expect(first.status).toBe(201);
    expect(JSON.parse(first.text)).toMatchObject({ customerId: 42, placedBy: 'ann', lines: 1 });
    expect([isReplay(retry), retry.text]).toEqual([true, first.text]);
    expect([isReplay(other), other.status]).toEqual([false, 201]);
    expect((await order(ann, { items: [...tea.items, ...tea.items] })).status).toBe(422);
  });

  it('refuses a caller without a token, and one that the guard refuses, on a retry, too', async () => {
    expect((await post(shop, '/customers/42/orders', { key: 'one', json: tea })).status).toBe(401);
    const eve = { sub: 'eve', role: 'guest' };
    const [forbidden, retry] = [await order(eve), await order(eve)];
    expect([forbidden.status, retry.status, isReplay(retry)]).toEqual([403, 403, true]);
  });

  it('says what is wrong with an order, and replays an exception', async () => {
    const ann = { sub: 'ann', role: 'customer' };
    const wrong = await order(ann, { items: [{ sku: 'tea', quantity: 'two' }] });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('items[0].quantity')]);
    const [first, retry] = [await order(ann, { items: [] }), await order(ann, { items: [] })];
    expect([first.status, isReplay(retry), retry.text]).toEqual([422, true, first.text]);
  });

  it('refunds once for each caller where a guard authenticates, since `scope` verifies the token', async () => {
    const [first, retry] = [await refund(bearer({ sub: 'ann' })), await refund(bearer({ sub: 'ann' }))];
    const [other, forged] = [await refund(bearer({ sub: 'bob' })), await refund('Bearer e.e.e')];
    expect([first.status, isReplay(retry), retry.text]).toEqual([201, true, first.text]);
    expect([other.status, isReplay(other)]).toEqual([201, false]);
    expect(forged.status).toBe(401);
  });
});
