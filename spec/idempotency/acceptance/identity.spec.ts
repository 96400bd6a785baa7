import { connect } from 'node:net';
import express, { type RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { send, type WireRequest, type WireResponse } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { multipart, type Part } from '../../support/multipart';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed, visible, visibleReplay } from '../../support/replays';

/** What has broken in other libraries, and must hold of which requests are duplicates: those, and no others. */

interface Sent extends WireRequest {
  readonly path?: string;
}

/** A service in which everybody may do everything, and each run has an answer of its own. */
async function service(
  options: IdempotencyOptions = {},
  ...before: RequestHandler[]
): Promise<{ ask(sent: Sent): Promise<WireResponse>; runs(): number }> {
  let runs = 0;
  const handler: RequestHandler = (_req, res) => {
    res.json({ run: ++runs });
  };
  const guard = idempotency(options);
  const router = express
    .Router()
    .all('/orders/:id', guard, handler)
    .all('/orders', guard, handler)
    .all('/', guard, handler);
  const { url } = await serve(
    express()
      .use(...before, (_req, _res, next) => {
        next();
      })
      .use('/v1', router)
      .use('/v2', router)
      .use(router),
  );
  return {
    ask: ({ path = '/', headers = {}, ...more }) =>
      send(url + path, { ...more, headers: { 'Idempotency-Key': 'k', ...headers } }),
    runs: () => runs,
  };
}

/** Sends each request twice, by turns: each must run once and be replayed once, and none get another's response. */
async function expectAllDifferent(requests: readonly Sent[], ...made: Parameters<typeof service>): Promise<void> {
  const { ask, runs } = await service(...made);
  for (let round = 0; round < 2; round++) {
    for (const [index, sent] of requests.entries()) {
      const { status, text, headers } = await ask(sent);
      expect([index, status, sent.method === 'HEAD' ? '' : text, headers['idempotent-replayed']]).toEqual([
        index,
        200,
        sent.method === 'HEAD' ? '' : `{"run":${index + 1}}`,
        round === 0 ? undefined : 'true',
      ]);
    }
  }
  expect(runs()).toBe(requests.length);
}

/** One client's bytes, as they are. */
async function raw(port: number, head: readonly string[], body = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    Buffer.from(`${head.join('\r\n')}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 'latin1'),
  );
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
  return text;
}

const json = (body: string): Sent => ({ headers: { 'Content-Type': 'application/json' }, body });
const form = (body: string): Sent => ({ headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body });

describe('with whenKeyReused: reject, a key on another request', () => {
  const others: [what: string, sent: Sent][] = [
    ['body', json('{"a":2}')],
    ['method', { ...json('{"a":1}'), method: 'PUT' }],
    ['path', { ...json('{"a":1}'), path: '/orders/8' }],
    ['query', { ...json('{"a":1}'), path: '/orders/7?dry=run' }],
    ['media type', { headers: { 'Content-Type': 'text/plain' }, body: '{"a":1}' }],
    ['additional header', { headers: { 'Content-Type': 'application/json', 'X-Tenant': 'b' }, body: '{"a":1}' }],
  ];
  const original: Sent = { path: '/orders/7', ...json('{"a":1}') };

  it.each(
    others.flatMap(([what, sent]) =>
      (['wait', 'reject'] as const).map(whenInFlight => ({ what, sent: { path: '/orders/7', ...sent }, whenInFlight })),
    ),
  )(
    '(another $what) gets 422 while the original runs and after it, never 409, and harms nothing ($whenInFlight)',
    async ({ sent, whenInFlight }) => {
      const started = signal();
      const end = signal();
      let runs = 0;
      const app = express().all(
        '/orders/:id',
        idempotency({ whenKeyReused: 'reject', whenInFlight, additionalHeaders: ['X-Tenant'] }),
        async (_req, res) => {
          runs++;
          started.happens();
          await end.happened;
          res.json({ run: runs });
        },
      );
      const { url } = await serve(app);
      const ask = ({ path = '', headers = {}, ...more }: Sent): Promise<WireResponse> =>
        send(url + path, { ...more, headers: keyed('k', headers as Record<string, string>) });
      const first = ask(original);
      await started.happened;
      const reused = await ask(sent);
      expect([reused.status, JSON.parse(reused.text)]).toEqual([
        422,
        expect.objectContaining({ type: 'urn:bindonce:key-reused' }),
      ]);
      end.happens();
      expect((await first).text).toBe('{"run":1}');
      expect((await ask(sent)).status).toBe(422);
      expect(visibleReplay(await ask(original))).toEqual(visible(await first));
      expect(runs).toBe(1);
    },
  );
});

describe('the same response is never given to another', () => {
  const caller =
    (by: (who: string | undefined) => object): RequestHandler =>
    (req, _res, next) => {
      Object.assign(req, by(req.get('X-Who')));
      next();
    };
  const who = (...names: string[]): Sent[] => names.map(name => ({ headers: { 'X-Who': name } }));

  it.each<[string, RequestHandler]>([
    ['req.user.id', caller(id => ({ user: { id } }))],
    ['req.auth.payload, of a verified token', caller(sub => ({ auth: { payload: { sub }, header: {}, token: 't' } }))],
  ])('user (%s)', async (_by, before) => {
    await expectAllDifferent(who('ann', 'bob', 'ANN', 'ann '.repeat(50).trim()), {}, before);
  });

  it('user, one of which has no name', async () => {
    await expectAllDifferent([{}, { headers: { Authorization: 'Bearer a' } }, { headers: { Authorization: '' } }]);
  });

  it.each<[string, IdempotencyOptions]>([
    ['scope', { scope: req => req.get('X-Who') }],
    ['an additional header', { additionalHeaders: ['x-who'] }],
  ])('tenant (%s)', async (_by, options) => {
    await expectAllDifferent([...who('a', 'b', 'a,b', '["a"]'), {}], options);
  });

  it('method', () =>
    expectAllDifferent(
      ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PROPFIND'].map(method => ({
        method,
        path: '/orders/1',
      })),
    ));
  it('host', () =>
    expectAllDifferent(['a.example', 'b.example', 'a.example:81', 'aexample'].map(Host => ({ headers: { Host } }))));
  it('host, which no client can forge where no proxy is trusted', async () => {
    const { ask, runs } = await service();
    for (const headers of [
      {},
      { 'X-Forwarded-Host': 'b.example' },
      { 'X-Forwarded-Proto': 'https' },
      { Forwarded: 'host=b.example' },
    ] as Record<string, string>[])
      await ask({ headers });
    expect(runs()).toBe(1);
  });
  it('router mount', () => expectAllDifferent(['/v1/orders', '/v2/orders', '/orders', '/'].map(path => ({ path }))));
  it('route value', () =>
    expectAllDifferent(
      ['/orders/1', '/orders/2', '/orders/11', '/orders/1%2F2', '/orders/%31', '/orders'].map(path => ({ path })),
    ));
  it('query', () =>
    expectAllDifferent(
      [
        '/',
        '/?a=1',
        '/?a=2',
        '/?a=1&a=2',
        '/?a=2&a=1',
        '/?a=1%262',
        '/?a[b]=1',
        '/?b=1',
        '/?a=1&b=1',
        '/?a=%2B',
        '/?a=+',
        '/?a=%2520',
        '/?=a',
      ].map(path => ({ path })),
    ));
});

describe('no two different requests meet', () => {
  const long = 'x'.repeat(5_000);

  it('in their keys', () =>
    expectAllDifferent(
      [
        'a',
        'b',
        'a,b',
        'a, b',
        'a;b',
        'a:b',
        'a|b',
        'a\tb',
        'a\\b',
        'k:1',
        '__proto__',
        'constructor',
        'null',
        'undefined',
        '[]',
        'ü',
        'Ã¼',
        '%00',
        '\\0',
        '"',
        "'a'",
        long,
        `${long}y`,
        `${long}z`,
      ].map(key => ({ headers: { 'Idempotency-Key': key } })),
    ));

  it.each<[string, Sent[]]>([
    [
      'query and query',
      [
        { path: '/?a=bc' },
        { path: '/?ab=c' },
        { path: '/?abc' },
        { path: '/?a=b&c' },
        { path: '/?a=b=c' },
        { path: '/?a%3Db=c' },
      ],
    ],
    [
      'path and query',
      [{ path: '/orders/a?b' }, { path: '/orders/a%3Fb' }, { path: '/orders?a&b' }, { path: '/orders/ab' }],
    ],
    [
      'key and path',
      [
        { path: '/orders/ab', headers: { 'Idempotency-Key': 'c' } },
        { path: '/orders/a', headers: { 'Idempotency-Key': 'bc' } },
      ],
    ],
    [
      'query and body',
      [
        { path: '/?a=1', ...form('b=2') },
        { path: '/?a=1&b=2', ...form('') },
        { path: '/', ...form('a=1&b=2') },
        { path: '/?a=1' },
      ],
    ],
    [
      'forms',
      [form('a=bc'), form('ab=c'), form('a=b&c='), form('a=b%26c'), form('a%3Db=c'), form('a=b&c=&c='), form('c=&a=x')],
    ],
    [
      'NUL',
      [
        form('a=%00'),
        form('a='),
        form('a=%00%00'),
        form('a%00='),
        json('"\\u0000"'),
        json('""'),
        { body: '\0' },
        { body: '\0\0' },
        { path: '/?a=%00' },
        { path: '/?a' },
      ],
    ],
    [
      '__proto__',
      [
        form('__proto__=1'),
        form('__proto__=2'),
        form('__proto__[a]=1'),
        form('constructor[prototype][a]=1'),
        json('{"__proto__":1}'),
        json('{"__proto__":2}'),
        json('{}'),
        { path: '/?__proto__=1' },
        { path: '/?__proto__[a]=1' },
        { path: '/?toString=1' },
      ],
    ],
    [
      'text that cannot be decoded',
      [
        form('a=%FF'),
        form('a=%FE'),
        form('a=%'),
        form('a=%25'),
        form('a=%ZZ'),
        form('a=\uFFFD'),
        { path: '/?a=%FF' },
        { path: '/?a=%FE' },
        { path: '/?a=%' },
        { path: '/?a=%25' },
      ],
    ],
    [
      'very long values',
      [
        json(`"${long}a"`),
        json(`"${long}b"`),
        form(`a=${long}`),
        form(`a=${long}x`),
        { path: `/?a=${long}` },
        { path: `/?a=${long}x` },
        { body: long.repeat(400) },
        { body: `${long.repeat(400)}x` },
      ],
    ],
    [
      'bytes and media types',
      [
        json('{}'),
        json('{ }'),
        { headers: { 'Content-Type': 'application/json; charset=utf-16' }, body: '{}' },
        { headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'x' }, body: '{}' },
        { body: '{}' },
        { body: '' },
      ],
    ],
  ])('in %s', (_where, requests) => expectAllDifferent(requests));

  it('in headers', () =>
    expectAllDifferent(
      [
        {},
        { A: '' },
        { A: 'b' },
        { A: 'b', B: '' },
        { A: 'bc' },
        { A: 'b', B: 'c' },
        { B: 'bc' },
        { A: ['b', 'c'] },
        { A: ['c', 'b'] },
        { A: 'b, c' },
        { A: '__proto__' },
        { A: long },
        { A: `${long}x` },
      ].map(headers => ({ headers: headers as Record<string, string> })),
      { additionalHeaders: ['A', 'B'] },
    ));

  it.each(expressVersions)('in what an earlier parser has made of them (%s)', async (_version, version) => {
    const bodies = [
      json('{"a":"bc"}'),
      json('{"ab":"c"}'),
      json('{"a":1}'),
      json('{"a":"1"}'),
      json('{"a":[1]}'),
      json('{"a":null}'),
      json('{}'),
      json('[]'),
      json('[{}]'),
      json('{"__proto__":1}'),
      json('{"a":"\\u0000"}'),
      json('{"a":"\\ud800"}'),
      json('{"a":"\\ud801"}'),
      form('a=bc'),
      form('ab=c'),
    ];
    await expectAllDifferent(bodies, {}, version.json(), version.urlencoded({ extended: true }));
  });
});

describe('of two multipart forms', () => {
  const parts: readonly Part[] = [
    { name: 'title', value: 'Grüße' },
    { name: 'tag', value: 'a' },
    { name: 'tag', value: 'b' },
    { name: 'photo', filename: 'ä.png', type: 'image/png', value: Buffer.alloc(3_000, 1) },
  ];
  const but = (changes: Partial<Part>, index = 3): Part[] =>
    parts.map((part, at) => (at === index ? { ...part, ...changes } : part));

  it.each<[string, readonly Part[]]>([
    ['another boundary', parts],
    ['other bytes of the same size', but({ value: Buffer.alloc(3_000, 2) })],
    ['fields of other names in another order', [...parts.slice(1), ...parts.slice(0, 1)]],
  ])('the second, with %s, is a duplicate', async (_what, other) => {
    const { ask, runs } = await service();
    await ask(multipart(parts, 'one'));
    const again = await ask(multipart(other, '----another-boundary-that-is-longer'));
    expect([again.text, again.headers['idempotent-replayed'], runs()]).toEqual(['{"run":1}', 'true', 1]);
  });

  it('the second, with another name, size, field or value, is not a duplicate', () =>
    expectAllDifferent(
      [
        parts,
        but({ filename: 'b.png' }),
        but({ value: Buffer.alloc(2_999, 1) }),
        but({ value: Buffer.alloc(0) }),
        but({ name: 'picture' }),
        but({ value: 'x' }, 0),
        but({ name: 'heading' }, 0),
        [...parts, ...but({ filename: 'c.png' }).slice(3)],
        parts.slice(0, 3),
        parts.map(part => (part.name === 'tag' ? { ...part, value: part.value === 'a' ? 'b' : 'a' } : part)),
        [{ name: 'photo', value: Buffer.alloc(3_000, 1) }],
        [],
      ].map(one => multipart(one, 'b')),
    ));

  it('of which one is two megabytes long, another name or size makes no duplicate, but another boundary does', async () => {
    const { ask, runs } = await service();
    const upload = (filename: string, size: number): readonly Part[] => [
      { name: 'f', filename, value: Buffer.alloc(size, 'f') },
    ];
    for (const boundary of ['a', 'bb'])
      for (const one of [upload('a', 2_000_000), upload('b', 2_000_000), upload('a', 2_000_001)])
        await ask(multipart(one, boundary));
    expect(runs()).toBe(3);
  });
});

describe('a key header', () => {
  const answers = async (lines: readonly string[], options: IdempotencyOptions = {}): Promise<string[]> => {
    let runs = 0;
    const { port } = await serve(
      express().post('/', idempotency(options), (req, res) => {
        res.json({ run: ++runs, key: req.idempotency.key });
      }),
    );
    const texts = [];
    for (let turn = 0; turn < 2; turn++) texts.push(await raw(port, ['POST / HTTP/1.1', 'Host: a', ...lines]));
    return texts;
  };

  it.each<[string, string[], string]>([
    ['missing', [], 'key-missing'],
    ['empty', ['Idempotency-Key:'], 'key-missing'],
    ['of blanks in quotes', ['Idempotency-Key: "  "'], 'key-missing'],
    ['sent twice with one value', ['Idempotency-Key: a', 'idempotency-key: a'], 'key-repeated'],
  ])('that is %s gets 400, and nothing runs', async (_how, lines, code) => {
    for (const text of await answers(lines)) {
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toContain(`urn:bindonce:${code}`);
    }
  });

  it.each<[string, string, string]>([
    ['with a comma', 'a,b', 'a,b'],
    ['in quotes', '"abc"', 'abc'],
    ['in quotes, with quotes', '"a\\"b\\\\c"', 'a"b\\c'],
    ['of two strings in quotes', '"a", "b"', '"a", "b"'],
    ['in UTF-8', Buffer.from('grün 🦉').toString('latin1'), Buffer.from('grün 🦉').toString('latin1')],
    ['of 8 KB', 'k'.repeat(8_192), 'k'.repeat(8_192)],
    ['of one character', '0', '0'],
  ])('%s is a key: one run, and a replay that names it as it was sent', async (_how, sent, key) => {
    const [first = '', second = ''] = await answers([`Idempotency-Key: ${sent}`]);
    const shown = Buffer.from(`{"run":1,"key":${JSON.stringify(key)}}`).toString('latin1');
    expect(first).toMatch(/^HTTP\/1\.1 200 /);
    for (const text of [first, second]) {
      expect(text).toContain(`\r\nIdempotency-Key: ${sent.trim()}\r\n`);
      expect(text.endsWith(shown)).toBe(true);
    }
    expect(second).toContain('\r\nIdempotent-Replayed: true\r\n');
  });

  it('that does not match keyPattern gets 400, every time', async () => {
    for (const text of await answers(['Idempotency-Key: 12a'], { keyPattern: /^\d+$/g }))
      expect(text).toContain('urn:bindonce:key-malformed');
    for (const text of await answers(['Idempotency-Key: 12'], { keyPattern: /^\d+$/g }))
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('marker headers that a client sends', () => {
  const markers = [
    'Idempotent-Replayed',
    'Idempotency-Replayed',
    'X-Idempotent-Replayed',
    'X-Hit',
    'X-Cache',
    'X-Idempotency-Hit',
    'Idempotency-Status',
    'X-Bindonce',
    'Bindonce-Received',
    'X-Lease',
    'X-Token',
    'X-Purge',
  ];

  it.each(expressVersions)('have no effect, in a request or in its duplicate (%s)', async (_version, version) => {
    let runs = 0;
    const { url } = await serve(
      version().post('/', idempotency(), (_req, res) => {
        res.json({ run: ++runs });
      }),
    );
    const marked = keyed('k', Object.fromEntries(markers.map(name => [name, 'true'])));
    const first = await send(url, { headers: marked });
    expect([first.status, first.text, first.headers['idempotent-replayed']]).toEqual([200, '{"run":1}', undefined]);
    for (const headers of [marked, keyed('k')])
      expect(visibleReplay(await send(url, { headers }))).toEqual(visible(first));
    expect((await send(url, { headers: { 'Idempotent-Replayed': 'true' } })).status).toBe(400);
    expect(runs).toBe(1);
  });
});
