import { ask } from '../support/ask';
import { serve } from '../support/serve';
import { shop } from './shop';

it('an order is placed without a cast', async () => {
  const items = [
    { sku: 'tea', quantity: 2 },
    { sku: 'pot', quantity: 1 },
  ];
  const sent = { key: 'k', headers: { 'X-Tenant': 'acme' }, json: { items, priority: 'high' } };
  const { status, body } = await ask((await serve(shop())).url, { path: '/customers/42/orders', ...sent });
  expect([status, body]).toEqual([201, { param: '42', pieces: 3, note: null, first: 'tea', anything: 3 }]);
});

it.each([
  ['/items/7', 'PUT', { name: 'x' }, { id: '7', name: 'x' }],
  ['/lists', 'POST', [{ sku: 'a', quantity: 1 }], ['a']],
  ['/several', 'POST', { name: 'x' }, 'x'],
  ['/apart', 'POST', { name: 'x' }, 'x'],
  ['/spread', 'POST', { name: 'x' }, 'x'],
  ['/between', 'POST', { name: 'x' }, 'x'],
  ['/unbound', 'POST', {}, null],
])('%s answers with its dto', async (path, method, json, answer) => {
  const { url } = await serve(shop());
  const { status, body } = await ask(url, { path, method, key: 'k', json });
  expect([status, body]).toEqual([200, answer]);
});
