import { ask } from '../support/ask';
import { serve } from '../support/serve';
import { shop } from './handlers';

const items = [
  { sku: 'tea', quantity: 2 },
  { sku: 'pot', quantity: 1 },
];

it.each<[string, unknown, unknown, status?: number]>([
  ['POST /customers/42/orders', { items, priority: 'high' }, { param: '42', pieces: 3, first: 'tea' }, 201],
  ['PUT /items/7', { name: 'x' }, { id: '7', name: 'x' }],
  ['POST /lists', items, ['tea', 'pot']],
  ['POST /maybe', [1], [1]],
  ...['several', 'spread', 'wrapped', 'async-handler', 'between', 'array', 'literal', 'other'].map(
    (path): [string, unknown, unknown] => [`POST /${path}`, { name: 'x' }, 'x'],
  ),
  ['POST /unbound', {}, null],
])('%s is answered with its dto, without a cast', async (...[line, json, answer, expected = 200]) => {
  const [method, path] = line.split(' ') as [string, string];
  const { url } = await serve(shop());
  const { status, body } = await ask(url, { path, method, key: 'k', headers: { 'X-Tenant': 'acme' }, json });
  expect([status, body]).toEqual([expected, answer]);
});
