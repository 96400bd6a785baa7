import express from 'express';
import { Keyv } from 'keyv';
import { idempotency } from '../../../lib';
import { fromStored } from '../../../lib/idempotency/stores/store';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

const valid = {
  version: 1,
  key: 'k',
  status: 200,
  headers: [['X-A', 'a']],
  trailers: [],
  body: Buffer.from('hello').toString('base64'),
};

describe('a record of the store', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['another version', { ...valid, version: 2 }],
  ])('with %s is not a response', (_title, record) => {
    expect(fromStored('k', JSON.stringify(record))).toBeUndefined();
  });

  it('with a line break in a header is never sent, and nothing runs again', async () => {
    const damage = (text: string): string => text.replace('"X-Order","1"', '"X-Order","1\\r\\nX-Admin: 1"');
    const map = new Map<string, string>();
    let runs = 0;
    const app = express().post('/', idempotency({ store: new Keyv({ store: map }) }), (_req, res) => {
      runs++;
      res.set('X-Order', '1').end('hello');
    });
    const { url } = await serve(app);
    await send(url, { headers: keyed('k') });
    for (const [key, text] of map) {
      const { value, ...rest } = JSON.parse(text) as { value: string };
      map.set(key, JSON.stringify({ value: damage(value), ...rest }));
    }
    const { status, headers } = await send(url, { headers: keyed('k') });
    expect([[409, 500].includes(status), headers['x-admin'], runs]).toEqual([true, undefined, 1]);
  });
});
