import type { RequestHandler } from 'express';
import Keyv from 'keyv';
import type { IdempotencyOptions } from '../../../lib';
import { canonicalHost } from '../../../lib/idempotency/identity/cache-key';
import { allDifferent, allOne, form, runsOf, typed } from '../../support/counting-service';
import type { Around, Keyed as Asked } from '../../support/guarded';

const host = (Host: string): Asked => ({ headers: { Host } });
const proxied = (host: string, proto = 'https', Host?: string): Asked => ({
  headers: { 'X-Forwarded-Host': host, 'X-Forwarded-Proto': proto, ...(Host !== undefined && { Host }) },
});
const paths = (text: string): Asked[] => text.split(' ').map(path => ({ path }));
const ofForm = (charset: string): Asked => typed(`application/x-www-form-urlencoded; charset=${charset}`, 'a=%E9');
const ofTypes = (body: string, ...types: string[]): Asked[] => types.map(type => typed(type, body));
const trusting: Around = { configure: app => app.set('trust proxy', true) };
// A store of its own: with a Host of the client's choosing, the requests of two specs could meet.
const ofItsOwn = (options: IdempotencyOptions = {}): IdempotencyOptions => ({ store: new Keyv(), ...options });

it.each<[string, Asked[], IdempotencyOptions?]>([
  ['the case of the path', paths('/x /X')],
  ['the order of more names than a parser reads', paths(`/?v=1&${'x&'.repeat(1_000)}y /?${'x&'.repeat(1_000)}y&v=1`)],
  ['the order of the values of one query name', paths('/?a=1&a=2 /?a=2&a=1')],
  ['the last of many bytes', ['a', 'b'].map(end => typed('text/plain', `${'x'.repeat(300_000)}${end}`))],
  ['the media type of the body', ofTypes('a', 'text/plain', 'text/html', 'text/plain; charset=latin1')],
  ['the charset of a form', [ofForm('utf-8'), ofForm('iso-8859-1')]],
])('requests that differ in %s run separately, and each has its own answer', async (_what, ...[requests, options]) => {
  expect(await runsOf(requests, options)).toBe(allDifferent(requests));
});

it.each<[string, Asked[], IdempotencyOptions?]>([
  ['whether an absent body is chunked', [{ headers: { 'Transfer-Encoding': 'chunked' } }, {}]],
  ['the order of query names', paths('/?a=1&b=2&a=3 /?b=2&a=1&a=3')],
  ['the order of form names', [form('a=1&b=2'), form('b=2&a=1')]],
  ['the charset of a form, named or spelt otherwise', [form('a=%E9'), ofForm('utf-8'), ofForm('"UTF-8"')]],
  ['headers that do not count', [{ headers: { 'User-Agent': 'a', Accept: 'text/html' } }, {}]],
  [
    'the case of the names of additional headers',
    [{ headers: { 'x-one': 'a' } }, { headers: { 'X-ONE': 'a' } }],
    { additionalHeaders: ['X-One', 'x-one'] },
  ],
  ['the order of media type parameters', ofTypes('x', 'text/plain; a=1; b=2', 'Text/Plain;b=2;a=1')],
  ['the case of a charset', ofTypes('{}', 'application/json; charset=utf-8', 'application/json; Charset="UTF-8"')],
  ['the body, where it is ignored', [{ body: '1' }, { body: 'a=1' }, {}], { ignoreRequestBody: true }],
])('requests that differ only in %s are one run', async (_what, ...[requests, options]) => {
  expect(await runsOf(requests, options)).toBe(allOne(requests));
});

it.each<[string, Asked[]]>([
  ['host', [proxied('a.example'), proxied('b.example')]],
  ['scheme', [proxied('a.example', 'http'), proxied('a.example', 'https')]],
])('the forwarded %s counts where the proxy is trusted, and only there', async (_what, requests) => {
  expect([await runsOf(requests, ofItsOwn(), trusting), await runsOf(requests)]).toEqual(['1 2', '1 1']);
});

describe('an additional header', () => {
  /** Works out what a request is about, and says so in a header for those who come after it. */
  const puttingOn: RequestHandler = (req, _res, next) => {
    const tenant = req.get('X-Raw');
    if (tenant !== undefined) req.headers['x-one'] = tenant.toLowerCase();
    next();
  };
  it('counts as an earlier middleware has put it on or changed it, and not as it was sent', async () => {
    const requests = [
      { 'X-Raw': 'a' },
      { 'X-Raw': 'b' },
      {},
      { 'X-One': 'sent', 'X-Raw': 'a' },
      { 'X-One': 'other', 'X-Raw': 'A' },
      { 'X-One': 'b' },
    ].map(headers => ({ headers: headers as Record<string, string> }));
    expect(await runsOf(requests, { additionalHeaders: ['X-One'] }, { before: [puttingOn] })).toBe('1 2 3 1 1 2');
  });

  it('counts in whatever order and case they are named', async () => {
    const keys: string[] = [];
    for (const named of ['X-One X-Two', 'x-two X-ONE x-one']) {
      const onEvent: IdempotencyOptions['onEvent'] = ({ cacheKey }) => keys.push(cacheKey);
      const options = ofItsOwn({ ignoreHost: true, additionalHeaders: named.split(' '), onEvent });
      await runsOf([{ headers: { 'X-One': 'a', 'X-Two': 'b' } }], options);
    }
    // 64 hex digits, which show nothing of the request.
    expect([...new Set(keys)]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });
});

describe('one host in another spelling', () => {
  it.each([
    ['Api.Example.COM', 'http', 'api.example.com'],
    ['api.example.com.', 'http', 'api.example.com'],
    ['api.example.com:80', 'http', 'api.example.com'],
    ['api.example.com:443', 'https', 'api.example.com'],
    ['API.example.com.:443', 'https', 'api.example.com'],
    ['api.example.com.:8080', 'http', 'api.example.com:8080'],
    ['api.example.com:', 'http', 'api.example.com'],
    ['[2001:DB8::A]:443', 'https', '[2001:db8::a]'],
    ['[2001:db8::80]', 'http', '[2001:db8::80]'],
    // Other hosts, and texts that name none.
    ['api.example.com:443', 'http', 'api.example.com:443'],
    ['api.example.com:80', 'https', 'api.example.com:80'],
    ['api.example.com:80:80', 'http', 'api.example.com:80:80'],
    ['2001:db8::80', 'http', '2001:db8::80'],
    ['api.example.com..', 'http', 'api.example.com.'],
    ['', 'http', ''],
  ])('%p with %s is %p', (given, scheme, canonical) => {
    expect(canonicalHost(given, scheme)).toBe(canonical);
  });

  const spellings = 'api.example.com API.example.com api.example.com.'.split(' ');
  it.each<[string, Asked[]]>([
    ['Host', [...spellings, 'api.example.com:80'].map(host)],
    ['X-Forwarded-Host', [...spellings, 'api.example.com:443, 10.0.0.1'].map(name => proxied(name))],
  ])('in %s is one run, and no other request with its key', async (_header, requests) => {
    expect(await runsOf(requests, ofItsOwn({ whenKeyReused: 'reject' }), trusting)).toBe(allOne(requests));
  });
});

describe('a host that names this machine', () => {
  it('is the same request under each of its names and ports', async () => {
    const local = ['localhost', 'localhost:80', '127.0.0.1', '127.255.0.9:1', '[::1]'].map(host);
    expect(await runsOf(local, ofItsOwn())).toBe(allOne(local));
  });

  it('is none of another name, and none by way of a proxy in front that keeps its own name', async () => {
    const others = ['localhost', 'localhost.example', 'shop.localhost', '127.0.0.1.example', '[::2]', ''].map(host);
    expect(await runsOf(others, ofItsOwn())).toBe(allDifferent(others));
    const behind = [proxied('a.example', 'https', '127.0.0.1'), proxied('b.example', 'https', '127.0.0.1')];
    expect(await runsOf([host('127.0.0.1:3000'), host('127.0.0.1:3001'), ...behind], ofItsOwn(), trusting)).toBe(
      '1 1 2 3',
    );
  });
});

it('with ignoreHost, scheme, host and port take no part, and all the rest does', async () => {
  const requests = [host('a.example'), host('b.example:81'), proxied('a.example', 'https'), { path: '/other' }];
  expect(await runsOf(requests, ofItsOwn({ ignoreHost: true }), trusting)).toBe('1 1 1 2');
});
