import type { IncomingHttpHeaders } from 'node:http';
import { dateTime, dto, fromHeader, int, list, string } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Versioned extends dto({
  tenant: fromHeader(string, { name: 'X-Tenant' }),
  etag: fromHeader(int),
  since: fromHeader(dateTime, { name: 'x-since', required: false }),
}) {}

it('names match in any case; the default name is that of the property', async () => {
  expect((await bind(Versioned, { headers: { 'X-TENANT': 'a', ETag: '7', 'X-Since': '2026-11-21' } })).dto).toEqual({
    tenant: 'a',
    etag: 7,
    since: new Date('2026-11-21'),
  });
});

it('a missing or unreadable header is reported under its name', async () => {
  expect((await bind(Versioned, { headers: { etag: 'x' } })).errors).toEqual([
    { name: 'etag', in: 'header', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
    { name: 'X-Tenant', in: 'header', detail: 'This header is missing from the request.' },
  ]);
});

it('a header that is sent twice is not a scalar, though node keeps only the first of some', async () => {
  class Once extends dto({ length: fromHeader(int, { name: 'Max-Forwards' }) }) {}
  expect((await bind(Once, { headers: { 'Max-Forwards': ['1', '2'] } })).errors).toEqual([
    { name: 'Max-Forwards', in: 'header', detail: 'There are 2 values where one is expected.' },
  ]);
});

const elsewhere: readonly [string, Sent][] = [
  ['the JSON body', { json: { tenant: 'x' } }],
  ['the query', { path: '/?tenant=x' }],
  ['the query under the header name', { path: '/?X-Tenant=x' }],
  ['the route', { path: '/x' }],
  ['a form', { form: [['tenant', 'x']] }],
];

describe('a required header', () => {
  class Required extends dto({ tenant: fromHeader(string, { name: 'X-Tenant' }) }) {}

  it.each(elsewhere)('does not come from %s', async (_source, sent) => {
    const { status, errors } = await bind(Required, sent, { route: '/{:tenant}', allowFormData: { urlEncoded: true } });
    expect({ status, errors }).toEqual({
      status: 400,
      errors: [{ name: 'X-Tenant', in: 'header', detail: 'This header is missing from the request.' }],
    });
  });
});

describe('a header that is not required', () => {
  class Optional extends dto({ tenant: fromHeader(string, { name: 'X-Tenant', required: false }) }) {}
  class NoFallback extends dto({
    tenant: fromHeader(string, { name: 'X-Tenant', required: false, fallback: false }),
  }) {}
  const options = { route: '/{:tenant}', allowFormData: { urlEncoded: true } } as const;

  it.each(elsewhere.filter(([source]) => source !== 'the query under the header name'))(
    "comes from %s, under the property's name, when it is missing",
    async (_source, sent) => {
      expect((await bind(Optional, sent, options)).dto).toEqual({ tenant: 'x' });
      expect((await bind(Optional, { ...sent, headers: { 'X-Tenant': 'h' } }, options)).dto).toEqual({ tenant: 'h' });
    },
  );

  it.each(elsewhere)('with fallback: false does not come from %s', async (_source, sent) => {
    expect((await bind(NoFallback, sent, options)).dto).toEqual({});
  });

  it('may be missing altogether, or have a default', async () => {
    class WithDefault extends dto({ tenant: fromHeader(string, { name: 'X-Tenant', default: 'public' }) }) {}
    expect((await bind(Optional)).dto).toEqual({});
    expect((await bind(WithDefault)).dto).toEqual({ tenant: 'public' });
  });
});

describe('headers that an earlier middleware has changed', () => {
  class Tagged extends dto({
    tags: fromHeader(list(string), { name: 'X-Tags' }),
    tenant: fromHeader(string, { name: 'X-Tenant', required: false, fallback: false }),
  }) {}
  const headers = { 'X-Tags': ['a,b', 'c'] };
  const behind = (change: (headers: IncomingHttpHeaders) => void) =>
    bind(
      Tagged,
      { headers },
      {
        before: [
          (req, _res, next) => {
            change(req.headers);
            next();
          },
        ],
      },
    );

  it.each<[string, (headers: IncomingHttpHeaders) => void, object]>([
    ['left alone: repeated lines are several values', () => undefined, { tags: ['a,b', 'c'] }],
    [
      'changed',
      current => {
        current['x-tags'] = 'd';
      },
      { tags: ['d'] },
    ],
    [
      'changed to several values',
      current => {
        current['x-tags'] = ['d,e', 'f'];
      },
      { tags: ['d,e', 'f'] },
    ],
    [
      'cut down to the first of its values',
      current => {
        current['x-tags'] = 'a,b';
      },
      { tags: ['a', 'b'] },
    ],
    [
      'set, where nobody has sent it',
      current => {
        current['x-tenant'] = 'acme';
      },
      { tags: ['a,b', 'c'], tenant: 'acme' },
    ],
  ])('%s', async (_what, change, value) => {
    expect((await behind(change)).dto).toEqual(value);
  });

  it('deleted', async () => {
    expect(
      (
        await behind(current => {
          delete current['x-tags'];
        })
      ).errors,
    ).toEqual([{ name: 'X-Tags', in: 'header', detail: 'This header is missing from the request.' }]);
  });
});
