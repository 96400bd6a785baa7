import { Keyv } from 'keyv';
import type { IdempotencyOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded, type Keyed } from '../../support/guarded';
import { HookedLeases } from '../../support/hooked-leases';

/** What a client must be able to read in every refusal: which it is, what happened, and what to do (RFC 9457). */

const down = () => ({
  store: new Keyv(),
  leases: new HookedLeases({ acquire: () => Promise.reject(new Error('ECONNREFUSED')) }),
});

describe.each(expressVersions)('%s', (_version, version) => {
  it.each<[code: string, status: number, title: RegExp, () => IdempotencyOptions, ...Keyed[]]>([
    ['key-missing', 400, /key/, () => ({}), { key: '' }],
    ['key-repeated', 400, /key/, () => ({}), { headers: { 'Idempotency-Key': ['a', 'b'] } }],
    ['key-malformed', 400, /key/, () => ({ keyPattern: /^\d+$/ }), {}],
    ['key-reused', 422, /key/, () => ({ whenKeyReused: 'reject' }), { body: 'a' }, { body: 'b' }],
    ['response-unavailable', 409, /response/i, () => ({ maxResponseBytes: 9 }), {}, {}],
    ['store-unavailable', 503, /store/, down, {}],
    ['body-too-large', 413, /large/, () => ({ maxRequestBytes: 3 }), { body: 'four' }],
  ])(
    '%s is a problem in JSON, with type, title, status, detail and instance',
    async (code, status, title, options, ...sent) => {
      const { post } = await guarded(options(), (_req, res) => res.send('x'.repeat(100)), { version });
      const answers = [];
      for (const request of sent) answers.push(await post({ path: '/orders?secret=1', ...request }));
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
