import express from 'express';
import Keyv from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { canonicalHost } from '../../../lib/idempotency/identity/cache-key';
import { send } from '../../support/listen';
import { serve } from '../../support/serve';

/** Who the specs' requests are from: `X-User` stands for what an authentication middleware finds out. */
async function served(
  options: IdempotencyOptions = {},
  configure: (app: express.Express) => unknown = () => undefined,
) {
  const state = { runs: 0 };
  const app = express().disable('x-powered-by');
  configure(app);
  app.use((req, _res, next) => {
    const user = req.get('X-User');
    if (user !== undefined) Object.assign(req, { user: JSON.parse(user) as unknown });
    next();
  });
  // A store of its own: with a Host of the client's choosing, the requests of two specs could meet.
  const guard = idempotency({ store: new Keyv(), ...options });
  const handler: express.RequestHandler = (_req, res) => {
    res.json({ run: ++state.runs });
  };
  app.use('/a', express.Router().use(express.Router().all('/items/:id', guard, handler)));
  app.use('/b', express.Router().all('/items/:id', guard, handler));
  app.all('/{*path}', guard, handler);
  const { url } = await serve(app);
  return { url, state };
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

const KEY = { 'Idempotency-Key': 'k' };
const text = (body: string | Buffer): Sent => ({ headers: { 'Content-Type': 'text/plain' }, body });
const form = (body: string | Buffer): Sent => ({
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body,
});
const charset = (charset: string): Sent => ({
  headers: { 'Content-Type': `application/x-www-form-urlencoded; charset=${charset}` },
  body: 'a=%E9',
});
const user = (value: unknown): Sent => ({ headers: { 'X-User': JSON.stringify(value) } });

async function runsOf(
  options: IdempotencyOptions,
  one: Sent,
  other: Sent,
  configure?: (app: express.Express) => unknown,
): Promise<number> {
  const { url, state } = await served(options, configure);
  for (const { method = 'POST', path = '/', headers = {}, body } of [one, other, one, other]) {
    const { status } = await send(url + path, { method, headers: { ...KEY, ...headers }, body });
    expect(status).toBe(200);
  }
  return state.runs;
}

const additionalHeaders = { additionalHeaders: ['X-One', 'X-Two'] };

describe('two requests that differ in', () => {
  it.each<[string, IdempotencyOptions, Sent, Sent]>([
    ['the case of the path', {}, { path: '/x' }, { path: '/X' }],
    ['the order of a and [a], which qs reads as one name', {}, { path: '/?[a]=1&a=2' }, { path: '/?a=2&[a]=1' }],
    [
      'the order of more names than a parser reads',
      {},
      { path: `/?v=1&${'x&'.repeat(1_000)}y` },
      { path: `/?${'x&'.repeat(1_000)}y&v=1` },
    ],
    ['the order of the values of one query name', {}, { path: '/?a=1&a=2' }, { path: '/?a=2&a=1' }],
    ['invalid percent-encoding and the replacement character', {}, { path: '/?a=%FF' }, { path: '/?a=%EF%BF%BD' }],
    ["the kind of the user's id", {}, user({ id: '1' }), { headers: { Authorization: 'id:1' } }],
    [
      'where the values of one additional header end and those of the next begin',
      additionalHeaders,
      { headers: { 'X-One': ['x-two', 'x-two'] } },
      { headers: { 'X-One': 'x-two', 'X-Two': 'x-two' } },
    ],
    ['the last of many bytes', {}, text(`${'x'.repeat(300_000)}a`), text(`${'x'.repeat(300_000)}b`)],
    ['body or none', {}, text('none'), {}],
    ['the media type of the body', {}, text('a'), { headers: { 'Content-Type': 'text/html' }, body: 'a' }],
    [
      'the charset of the body',
      {},
      text('a'),
      { headers: { 'Content-Type': 'text/plain; charset=latin1' }, body: 'a' },
    ],
    [
      'the case of a parameter other than the charset',
      {},
      { headers: { 'Content-Type': 'application/json; profile=a' }, body: '{"a":1}' },
      { headers: { 'Content-Type': 'application/json; profile=A' }, body: '{"a":1}' },
    ],
    ['a byte of a form that is no UTF-8 and a character', {}, form(Buffer.from([0x61, 0x3d, 0xe9])), form('a=%C3%A9')],
    ['the UTF-8 bytes of a character and their escapes read as two', {}, form('a=\u00e9'), form('a=%C3%83%C2%A9')],
    ['the charset of a form', {}, charset('utf-8'), charset('iso-8859-1')],
    ['whether a form is in another charset than UTF-8', {}, form('a=%E9'), charset('iso-8859-1')],
  ])('%s run separately, and each has its own answer', async (_title, options, one, other) => {
    expect(await runsOf(options, one, other)).toBe(2);
  });
});

const proxied = (host: string, proto = 'https'): Sent => ({
  headers: { 'X-Forwarded-Host': host, 'X-Forwarded-Proto': proto },
});

describe('behind a proxy', () => {
  it.each<[string, Sent, Sent]>([
    ['host', proxied('a.example'), proxied('b.example')],
    ['scheme', proxied('a.example', 'http'), proxied('a.example', 'https')],
  ])('the forwarded %s counts where the proxy is trusted, and only there', async (_title, one, other) => {
    expect(await runsOf({}, one, other, app => app.set('trust proxy', true))).toBe(2);
    expect(await runsOf({}, one, other)).toBe(1);
  });
});

describe('two requests that differ only in', () => {
  it.each<[string, IdempotencyOptions, Sent, Sent]>([
    ['whether an absent body is chunked', {}, { headers: { 'Transfer-Encoding': 'chunked' } }, {}],
    ['the order of query names', {}, { path: '/?a=1&b=2&a=3' }, { path: '/?b=2&a=1&a=3' }],
    ['empty parts of the query', {}, { path: '/?a=1&&' }, { path: '/?a=1' }],
    ['the order of form names', {}, form('a=1&b=2'), form('b=2&a=1')],
    ['whether the charset of a form is named', {}, form('a=%E9'), charset('utf-8')],
    ['the spelling of the charset of a form', {}, charset('utf-8'), charset('"UTF-8"')],
    [
      'headers that do not count',
      {},
      { headers: { 'User-Agent': 'a', Accept: 'text/html' } },
      { headers: { 'User-Agent': 'b' } },
    ],
    [
      'the case of the names of additional headers',
      additionalHeaders,
      { headers: { 'x-one': 'a' } },
      { headers: { 'X-ONE': 'a' } },
    ],
    [
      'the order of media type parameters',
      {},
      { headers: { 'Content-Type': 'text/plain; a=1; b=2' }, body: 'x' },
      { headers: { 'Content-Type': 'Text/Plain;b=2;a=1' }, body: 'x' },
    ],
    [
      'the case of a charset',
      {},
      { headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: '{"a":1}' },
      { headers: { 'Content-Type': 'application/json; Charset="UTF-8"' }, body: '{"a":1}' },
    ],
    ['the body, where it is ignored', { ignoreRequestBody: true }, text('a'), text('b')],
  ])('%s are one run', async (_title, options, one, other) => {
    expect(await runsOf(options, one, other)).toBe(1);
  });
});

/** Stands for a middleware that works out what a request is about, and says so in a header for those who come after it. */
const puttingOn = (app: express.Express): unknown =>
  app.use((req, _res, next) => {
    const tenant = req.get('X-Raw');
    if (tenant !== undefined) req.headers['x-one'] = tenant.toLowerCase();
    next();
  });

describe('an additional header', () => {
  it.each<[string, Sent, Sent, number]>([
    ['that an earlier middleware has put on counts', { headers: { 'X-Raw': 'a' } }, { headers: { 'X-Raw': 'b' } }, 2],
    ['that an earlier middleware has put on, or not, counts', { headers: { 'X-Raw': 'a' } }, {}, 2],
    [
      'counts as an earlier middleware has changed it',
      { headers: { 'X-One': 'sent', 'X-Raw': 'a' } },
      { headers: { 'X-One': 'sent', 'X-Raw': 'b' } },
      2,
    ],
    [
      'does not count as it was sent once an earlier middleware has changed it',
      { headers: { 'X-One': 'x', 'X-Raw': 'a' } },
      { headers: { 'X-One': 'y', 'X-Raw': 'A' } },
      1,
    ],
    ['is the same whether it was sent or put on', { headers: { 'X-One': 'a' } }, { headers: { 'X-Raw': 'a' } }, 1],
  ])('%s', async (_title, one, other, runs) => {
    expect(await runsOf(additionalHeaders, one, other, puttingOn)).toBe(runs);
  });
});

describe('a cache key', () => {
  it('is 64 hex digits, and shows nothing of the request', async () => {
    const keys: string[] = [];
    const { url } = await served({
      onEvent: ({ cacheKey }) => {
        keys.push(cacheKey);
      },
    });
    await send(`${url}/secret?secret=${'x'.repeat(7_000)}`, {
      headers: { ...KEY, Authorization: 'Bearer secret' },
      body: 'secret',
    });
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
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
  ])('%p with %s is %p', (host, scheme, canonical) => {
    expect(canonicalHost(host, scheme)).toBe(canonical);
  });

  const spellings = ['api.example.com', 'API.example.com', 'api.example.com.', 'api.example.com:80'];
  const forwarded = ['api.example.com', 'API.example.com', 'api.example.com.', 'api.example.com:443, 10.0.0.1'];
  it.each<[string, Sent[]]>([
    ['Host', spellings.map(Host => ({ headers: { Host } }))],
    ['X-Forwarded-Host', forwarded.map(host => proxied(host))],
  ])('in %s is one run, and no other request with its key', async (_header, requests) => {
    const { url, state } = await served({ whenKeyReused: 'reject' }, app => app.set('trust proxy', true));
    for (const { headers } of requests)
      expect((await send(url, { method: 'POST', headers: { ...KEY, ...headers } })).status).toBe(200);
    expect(state.runs).toBe(1);
  });
});

describe('a host that names this machine', () => {
  const local = ['localhost', 'localhost:80', '127.0.0.1', '127.255.0.9:1', '[::1]'].map((Host): Sent => ({
    headers: { Host },
  }));

  it('is the same request under each of its names and ports', async () => {
    const { url, state } = await served();
    for (const { headers } of local) await send(url, { headers: { ...KEY, ...headers } });
    expect(state.runs).toBe(1);
  });

  it.each(['localhost.example', 'shop.localhost', '127.0.0.1.example', '[::2]', ''])('is not %p', async Host => {
    expect(await runsOf({}, { headers: { Host: 'localhost' } }, { headers: { Host } })).toBe(2);
  });

  it('takes no part by way of a proxy in front that keeps its own name', async () => {
    const { url, state } = await served({}, app => app.set('trust proxy', true));
    for (const headers of [{ Host: '127.0.0.1:3000' }, { Host: '127.0.0.1:3001' }])
      await send(url, { headers: { ...KEY, ...headers } });
    for (const headers of [proxied('a.example'), proxied('b.example')])
      await send(url, { headers: { ...KEY, Host: '127.0.0.1:3000', ...headers.headers } });
    expect(state.runs).toBe(3);
  });
});

it('the order and the case in which additional headers are named take no part', async () => {
  const keys: string[] = [];
  const store = new Keyv();
  for (const names of [
    ['X-One', 'X-Two'],
    ['x-two', 'X-ONE', 'x-one'],
  ]) {
    const guard = idempotency({ store, ignoreHost: true, additionalHeaders: names });
    const app = express().post('/', guard, (req, res) => {
      keys.push(req.idempotency.cacheKey);
      res.end();
    });
    const { url } = await serve(app);
    await send(url, { headers: { ...KEY, 'X-One': 'a', 'X-Two': 'b' } });
    await send(url, { headers: { 'Idempotency-Key': 'l', 'X-One': 'a', 'X-Two': 'b' } });
  }
  expect(keys).toHaveLength(2);
});

it('with ignoreHost, scheme, host and port take no part, and all the rest does', async () => {
  const options: IdempotencyOptions = { ignoreHost: true };
  expect(await runsOf(options, { headers: { Host: 'a.example' } }, { headers: { Host: 'b.example:81' } })).toBe(1);
  expect(
    await runsOf(options, proxied('a.example', 'http'), proxied('a.example', 'https'), app =>
      app.set('trust proxy', true),
    ),
  ).toBe(1);
  expect(await runsOf(options, { path: '/a/items/1' }, { path: '/a/items/2' })).toBe(2);
});
