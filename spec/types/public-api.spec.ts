import { ask } from '../support/ask';
import { serve } from '../support/serve';
import * as api from './public-api';

const ORDER = { items: [{ sku: 'tea', quantity: 1, unitPrice: '2.50' }] };
const ID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';

describe('the public API does in a program what its types say', () => {
  it.each<[string, string, object, unknown]>([
    ['/orders', `POST /orders/${ID}`, { key: 'k', json: ORDER }, ['k', 'acme', false]],
    ['/apart', `POST /apart/${ID}`, { key: 'k', json: ORDER }, 'acme'],
    ['/cents', 'POST /cents', {}, { cents: 5, type: 'undefined', others: {} }],
    ['/values', `GET /values/${ID}?page=2`, {}, [ID, 2, 'acme', null]],
  ])('%s', async (_route, line, sent, answer) => {
    const { url } = await serve(api.application());
    const [method, path] = line.split(' ') as [string, string];
    const { body } = await ask(url, { method, path, headers: { 'X-Tenant': 'acme' }, ...sent });
    expect(body).toEqual(answer);
  });

  it('/described', async () => {
    const { url } = await serve(api.application());
    const { body } = await ask(url, { method: 'GET', path: '/described' });
    expect(Object.keys(body as object)).toEqual(['/orders/{customerId}', '/apart/{customerId}']);
  });

  it('each option is accepted, and each type', () => {
    const made = [api.guard, api.purge, ...api.bound, ...api.replaced];
    expect([...new Set(made.map(one => typeof one))]).toEqual(['function']);
    expect(Object.values(api.types)).not.toContain(undefined);
  });
});
