import type { RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { send, type WireRequest } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

/** What a client must be able to read in every refusal: which it is, what happened, and what to do (RFC 9457). */

const down = (): Promise<void> => Promise.reject(new Error('ECONNREFUSED'));
const long: RequestHandler = (_req, res) => {
  res.send('x'.repeat(100));
};

describe.each(expressVersions)('%s', (_version, express) => {
  it.each<[code: string, status: number, title: RegExp, IdempotencyOptions, ...WireRequest[]]>([
    ['key-missing', 400, /key/, {}, {}],
    ['key-repeated', 400, /key/, {}, { headers: { 'Idempotency-Key': ['a', 'b'] } }],
    ['key-malformed', 400, /key/, { keyPattern: /^\d+$/ }, { headers: keyed('k') }],
    [
      'key-reused',
      422,
      /key/,
      { whenKeyReused: 'reject' },
      { headers: keyed('k'), body: 'a' },
      { headers: keyed('k'), body: 'b' },
    ],
    [
      'response-unavailable',
      409,
      /response/i,
      { maxResponseBytes: 9 },
      { headers: keyed('k') },
      { headers: keyed('k') },
    ],
    [
      'store-unavailable',
      503,
      /store/,
      { store: new Keyv(), leases: new HookedLeases({ acquire: down }), storeTimeout: 50 },
      { headers: keyed('k') },
    ],
    ['body-too-large', 413, /large/, { maxRequestBytes: 3 }, { headers: keyed('k'), body: 'four' }],
  ])(
    '%s is a problem in JSON, with type, title, status, detail and instance',
    async (code, status, title, options, ...sent) => {
      const { url } = await serve(express().post('/orders', idempotency(options), long));
      const answers = [];
      for (const request of sent) answers.push(await send(`${url}/orders?secret=1`, request));
      const refused = answers.at(-1);
      expect(refused?.headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect([refused?.status, JSON.parse(refused?.text ?? '')]).toEqual([
        status,
        {
          type: `urn:bindonce:${code}`,
          title: expect.stringMatching(title) as string,
          status,
          detail: expect.stringMatching(/^\S.*\.$/) as string,
          instance: '/orders',
        },
      ]);
    },
  );
});
