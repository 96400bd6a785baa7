import { send, type WireResponse } from '../support/listen';
import { serving } from '../support/one-endpoint';
import { shop } from './shop';

const json = { 'Content-Type': 'application/json' };
const ask = (
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<WireResponse> =>
  serving(shop(), ({ url }) =>
    send(url + path, { method, headers: { ...json, ...headers }, body: JSON.stringify(body) }),
  );

it('an order is placed without a cast', async () => {
  const order = {
    items: [
      { sku: 'tea', quantity: 2 },
      { sku: 'pot', quantity: 1 },
    ],
    priority: 'high',
  };
  const { status, text } = await ask('/customers/42/orders', order, { 'Idempotency-Key': 'k', 'X-Tenant': 'acme' });
  expect([status, JSON.parse(text)]).toEqual([201, { param: '42', pieces: 3, note: null, first: 'tea', anything: 3 }]);
});

it.each([
  ['/items/7', 'PUT', { name: 'x' }, { id: '7', name: 'x' }],
  ['/routes/7', 'PATCH', { name: 'x' }, 'x'],
  ['/lists', 'POST', [{ sku: 'a', quantity: 1 }], ['a']],
  ['/several', 'POST', { name: 'x' }, 'x'],
  ['/apart', 'POST', { name: 'x' }, 'x'],
  ['/spread', 'POST', { name: 'x' }, 'x'],
  ['/configured', 'POST', { name: 'x' }, 'x'],
  ['/between', 'POST', { name: 'x' }, 'x'],
  ['/unbound', 'POST', {}, null],
])('%s answers with its dto', async (path, method, body, answer) => {
  const { status, text } = await ask(path, body, { 'Idempotency-Key': 'k' }, method);
  expect([status, JSON.parse(text)]).toEqual([200, answer]);
});
