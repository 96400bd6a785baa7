import express from 'express';
import { Keyv } from 'keyv';
import { idempotency } from '../../../lib';
import { fromStored, toStored } from '../../../lib/idempotency/stores/store';
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
    ['a text', 'x'],
    ['an array', [valid]],
    ['another version', { ...valid, version: 2 }],
    ['no version', { ...valid, version: undefined }],
  ])('with %s is not a response', (_title, record) => {
    expect(fromStored('k', JSON.stringify(record))).toBeUndefined();
  });

  it('with another key is an error: it is the answer to another question', () => {
    expect(() => fromStored('l', JSON.stringify(valid))).toThrow(
      'asked for the response of l, and answered with that of k',
    );
  });

  it('is read as it was written, with all that there can be', () => {
    const response = {
      status: 999,
      reason: 'So ü',
      removed: ['x-debug'],
      headers: [['Set-Cookie', ['a=1', 'b=ü']] as const],
      body: Buffer.from([0, 255]),
      trailers: [['X-T', '1'] as const],
    };
    expect(fromStored('k', toStored('k', response))).toEqual(response);
  });

  it.each<[string, (text: string) => string]>([
    ['half of its text', text => text.slice(0, text.length / 2)],
    ['a line break in a header', text => text.replace('"X-Order","1"', '"X-Order","1\\r\\nX-Admin: 1"')],
  ])('with %s is never sent, and nothing runs again', async (_title, damage) => {
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
