import express, { type RequestHandler } from 'express';
import fc from 'fast-check';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import {
  allDifferent,
  allOne,
  countingService,
  form,
  json,
  runsOf,
  typed,
  type Asked,
  type Around,
} from '../../support/counting-service';
import { expressVersions } from '../../support/express-versions';
import { guarded } from '../../support/guarded';
import { processorTime } from '../../support/processor-time';
import { RawClient } from '../../support/raw-client';
import { visible, visibleReplay } from '../../support/replays';
import { signal } from '../../support/signal';

/** What has broken in other libraries, and must hold of which requests are duplicates: those, and no others. */

const paths = (text: string): Asked[] => text.split(' ').map(path => ({ path }));
const long = 'x'.repeat(5_000);

describe('with whenKeyReused: reject, a key on another request', () => {
  const others: [what: string, sent: Asked][] = [
    ['body', json('{"a":2}')],
    ['method', { ...json('{"a":1}'), method: 'PUT' }],
    ['path', { ...json('{"a":1}'), path: '/orders/8' }],
    ['query', { ...json('{"a":1}'), path: '/orders/7?dry=run' }],
    ['media type', typed('text/plain', '{"a":1}')],
    ['additional header', typed('application/json', '{"a":1}', { 'X-Tenant': 'b' })],
  ];

  it.each(others)(
    '(another %s) gets 422 while the original runs and after it, never 409, and harms nothing',
    async (_what, changed) => {
      const sent = { path: '/orders/7', ...changed };
      const [started, end] = [signal(), signal()];
      const waits: RequestHandler = (_req, _res, next) => {
        started.happens();
        void end.happened.then(() => next());
      };
      const options = { whenKeyReused: 'reject', whenInFlight: 'reject', additionalHeaders: ['X-Tenant'] } as const;
      const { answerTo, runs } = await countingService(options, { behind: [waits] });
      const original: Asked = { path: '/orders/7', ...json('{"a":1}') };
      const first = answerTo(original);
      await started.happened;
      expect(await answerTo(sent)).toBe('422');
      end.happens();
      expect([await first, await answerTo(sent), await answerTo(original), runs()]).toEqual(['1', '422', '1', 1]);
    },
  );
});

describe('the same response is never given to another', () => {
  const who = (...names: string[]): Asked[] => names.map(name => ({ headers: { 'X-Who': name } }));
  const caller = (by: (who: string | undefined) => object): Around => ({
    before: [(req, _res, next) => next(void Object.assign(req, by(req.get('X-Who'))))],
  });
  const verified = (sub: string | undefined) => ({ auth: { payload: { sub }, header: {}, token: 't' } });
  const router = express.Router().all(/.*/, idempotency());
  const mounted: Around = { configure: app => app.use('/v1', router).use('/v2', router) };

  it.each<[string, Asked[], IdempotencyOptions?, Around?]>([
    ['user (req.user.id)', who('ann', 'bob', 'ANN', 'ann '.repeat(50).trim()), {}, caller(id => ({ user: { id } }))],
    ['user (of a verified token)', who('ann', 'bob', 'ANN'), {}, caller(verified)],
    ['user, if there is one', [{}, { headers: { Authorization: 'Bearer a' } }, { headers: { Authorization: '' } }]],
    ['tenant (scope)', [...who('a', 'b', 'a,b', '["a"]'), {}], { scope: req => req.get('X-Who') }],
    ['tenant (an additional header)', [...who('a', 'b', 'a,b', '["a"]'), {}], { additionalHeaders: ['x-who'] }],
    ['method', 'POST PUT PATCH DELETE GET HEAD OPTIONS PROPFIND'.split(' ').map(method => ({ method }))],
    ['host', 'a.example b.example a.example:81 aexample'.split(' ').map(Host => ({ headers: { Host } }))],
    ['router mount', paths('/v1/orders /v2/orders /orders /'), {}, mounted],
    ['route value', paths('/orders/1 /orders/2 /orders/11 /orders/1%2F2 /orders/%31 /orders')],
    ['query', paths('/ /?a=1 /?a=2 /?a=1&a=2 /?a=2&a=1 /?a=1%262 /?a[b]=1 /?a=%2B /?a=+ /?a=%2520 /?=a /?a%3Db=c')],
  ])('%s', async (_what, ...[requests, options, around]) => {
    expect(await runsOf(requests, options, around)).toBe(allDifferent(requests));
  });

  it('host, which no client can forge where no proxy is trusted', async () => {
    const forged = [{}, { 'X-Forwarded-Host': 'b.example' }, { 'X-Forwarded-Proto': 'https' }, { Forwarded: 'host=b' }];
    const requests = forged.map(headers => ({ headers: headers as Record<string, string> }));
    expect(await runsOf(requests)).toBe(allOne(requests));
  });
});

/** A random request: most of it is as always, so that many are equal and many nearly so. */
const text = fc.constantFrom('', 'a', 'b', 'bc', 'a,b', 'b=c', 'x&y', '["a"]');
const pairs = fc.array(fc.tuple(fc.constantFrom('a', 'ab', 'c'), text), { minLength: 1, maxLength: 3 });
const lines = fc.array(fc.constantFrom('a', 'b', 'a,b', 'a, b'), { maxLength: 2 });
const mostly = <T>(usual: T, others: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: others });
const random = fc.record({
  method: mostly('POST', fc.constant('PUT')),
  path: mostly('/', fc.constantFrom('/a', '/ab', '/a/b')),
  query: mostly<[string, string][]>([], pairs),
  key: mostly('k', fc.constantFrom('a', 'a,b', 'kb')),
  A: mostly<string[]>([], lines),
  B: mostly<string[]>([], lines),
  form: mostly<[string, string][] | undefined>(undefined, pairs),
});
type Random = typeof random extends fc.Arbitrary<infer T> ? T : never;
type Pairs = Random['query'];

const encoded = (all: Pairs): string => new URLSearchParams(all as [string, string][]).toString();
const sentAs = ({ method, path, query, key, A, B, form: fields }: Random): Asked => {
  const sent = fields === undefined ? {} : form(encoded(fields));
  const given = { 'Idempotency-Key': key, ...(A.length > 0 && { A }), ...(B.length > 0 && { B }) };
  return { method, path: `${path}?${encoded(query)}`, body: sent.body, headers: { ...sent.headers, ...given } };
};
/** What tells requests apart: the names of a query or a form may come in any order, the values of one name may not. */
const byName = (all: Pairs): Pairs => [...all].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
const identityOf = ({ query, form: fields, ...rest }: Random): string =>
  JSON.stringify([rest, byName(query), fields && byName(fields)]);

it('of random requests those are duplicates that are equal but for the order of names, and no others', () =>
  fc.assert(
    fc.asyncProperty(fc.array(random, { minLength: 40, maxLength: 40 }), async requests => {
      const found = (await runsOf(requests.map(sentAs), { additionalHeaders: ['A', 'B'] })).split(' ');
      const identities = requests.map(identityOf);
      expect(found).toEqual(identities.map(one => found[identities.indexOf(one)]));
      expect(new Set(found).size).toBe(new Set(identities).size);
    }),
    { numRuns: 8 },
  ));

describe('no two different requests meet', () => {
  const keys = [
    ...'a b a,b a;b a:b a|b a\\b k:1 __proto__ constructor null undefined [] ü Ã¼ %00 \\0 "'.split(' '),
    ...['a, b', 'a\tb', "'a'", long, `${long}y`, `${long}z`],
  ];
  const lines = [
    '__proto__',
    long,
    `${long}x`,
    '',
    'b',
    'b,c',
    'b, c',
    ...['b c', 'c b', 'b b', 'b b b'].map(all => all.split(' ')),
  ];
  const profiles = ['charset=utf-16', 'profile=a', 'profile=A'].map(more => typed(`application/json; ${more}`, '{}'));
  const sent: Record<string, Asked[]> = {
    'in their keys': keys.map(key => ({ key })),
    'in headers': [{}, ...lines.map(A => ({ headers: { A } }))],
    'in NUL': [
      ...['a=%00', 'a=', 'a=%00%00', 'a%00='].map(form),
      ...[json('"\\u0000"'), json('""'), { body: '\0' }, { body: '\0\0' }, ...paths('/?a=%00 /?a')],
    ],
    'in __proto__': [
      ...['__proto__=1', '__proto__=2', '__proto__[a]=1', 'constructor[prototype][a]=1'].map(form),
      ...['{"__proto__":1}', '{"__proto__":2}', '{}'].map(json),
      ...paths('/?__proto__=1 /?__proto__[a]=1 /?toString=1'),
    ],
    'in text that cannot be decoded': [
      ...'a=%FF a=%FE a=% a=%25 a=%ZZ a=\uFFFD a=%C3%A9 a=\u00e9 a=%C3%83%C2%A9'.split(' ').map(form),
      ...[form(Buffer.from([0x61, 0x3d, 0xe9])), ...paths('/?a=%FF /?a=%FE /?a=% /?a=%25 /?a=%EF%BF%BD')],
    ],
    'in very long values': [
      ...[json(`"${long}a"`), json(`"${long}b"`), form(`a=${long}`), form(`a=${long}x`)],
      ...paths(`/?a=${long} /?a=${long}x`),
      ...['', 'x', 'y'].map(end => ({ body: long.repeat(400) + end })),
    ],
    'in bytes and media types': [
      ...[json('{}'), json('{ }'), { body: '{}' }, { body: '' }, { body: 'none' }, ...profiles],
      typed('application/json', '{}', { 'Content-Encoding': 'x' }),
    ],
  };

  it.each(Object.entries(sent))('%s', async (_where, requests) => {
    expect(await runsOf(requests, { additionalHeaders: ['A'] })).toBe(allDifferent(requests));
  });

  it.each(expressVersions)('in what an earlier parser has made of them (%s)', async (_version, version) => {
    const bodies = [
      ...'{"a":"bc"} {"ab":"c"} {"a":1} {"a":"1"} {"a":[1]} {"a":null} {} [] [{}] {"__proto__":1}'.split(' ').map(json),
      ...['{"a":"\\u0000"}', '{"a":"\\ud800"}', '{"a":"\\ud801"}', '[[1],2]', '[[1,2]]'].map(json),
      ...[form('a=bc'), form('ab=c')],
    ];
    const before = [version.json(), version.urlencoded({ extended: true })];
    expect(await runsOf(bodies, {}, { version, before })).toBe(allDifferent(bodies));
  });
});

describe('a key header', () => {
  /** The answers to two requests with these header lines, as they come over the wire. */
  const answers = async (lines: readonly string[], options: IdempotencyOptions = {}): Promise<string[]> => {
    const { port } = await guarded(options, (req, res, _next, run) => res.json({ run, key: req.idempotency.key }));
    const ask = () => RawClient.asks(port, '/', [...lines, 'Connection: close']).closed();
    return [await ask(), await ask()];
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

  it.each<[string, string, string?]>([
    ['with a comma', 'a,b'],
    ['in quotes', '"abc"', 'abc'],
    ['in quotes, with quotes', '"a\\"b\\\\c"', 'a"b\\c'],
    ['in quotes, with blanks', '" abc "', ' abc '],
    ['in quotes, with parameters', '"abcd";a="x;\\"y";b=tok/en', 'abcd'],
    ['in quotes, with a wrong escape', '"a\\bc"'],
    ['in quotes, with a parameter that has no end', '"abc";a="x'],
    ['of two strings in quotes', '"a", "b"'],
    ['in UTF-8', Buffer.from('grün 🦉').toString('latin1')],
    ['in UTF-8 that ends with the byte A0', 'voil\u00c3\u00a0'],
    ['of 8 KB', 'k'.repeat(8_192)],
    ['of one character', '0'],
    ['that is the name of a property of every object', '__proto__'],
  ])('%s is a key: one run, and a replay that names it as it was sent', async (_how, ...[sent, key = sent]) => {
    const [first = '', second = ''] = await answers([`Idempotency-Key: \t${sent} `]);
    const shown = Buffer.from(`{"run":1,"key":${JSON.stringify(key)}}`).toString('latin1');
    expect(first).toMatch(/^HTTP\/1\.1 200 /);
    for (const text of [first, second]) {
      expect(text).toContain(`\r\nIdempotency-Key: ${sent}\r\n`);
      expect(text.endsWith(shown)).toBe(true);
    }
    expect(second).toContain('\r\nIdempotent-Replayed: true\r\n');
  });

  it.each([/^\d+$/, /^\d+$/g, /\d+$/y])(
    'that does not match keyPattern gets 400, every time (%s)',
    async keyPattern => {
      for (const text of await answers(['Idempotency-Key: 12a'], { keyPattern }))
        expect(text).toContain('urn:bindonce:key-malformed');
      for (const text of await answers(['Idempotency-Key: "12"'], { keyPattern }))
        expect(text).toMatch(/^HTTP\/1\.1 200 /);
    },
  );
});

describe('the key', () => {
  it('comes in the header of the name that is given, in any case, as an earlier middleware has left it', async () => {
    const { answersTo } = await countingService({ headerName: 'X-Once-Only' });
    const ours = ['X-Once-Only', 'x-once-ONLY'].map(name => ({ headers: { [name]: 'k' } }));
    expect(await answersTo([{}, ...ours])).toEqual(['400', '1', '1']);
    for (const [left, answers] of [
      ['theirs', '1 1'],
      [undefined, '400 400'],
    ] as const) {
      const change: RequestHandler = (req, _res, next) => next(void (req.headers['idempotency-key'] = left));
      expect(await runsOf([{ key: 'a' }, { key: 'b' }], {}, { before: [change] })).toBe(answers);
    }
  });

  it('of thousands of parameters, and with 200,000 blanks in it, is read in a moment', async () => {
    const keys = [`"abc"${';a="\\"'.repeat(2_000)}`, `\t a${' '.repeat(200_000)}b \t`];
    // Longer than node takes from a client.
    const put: RequestHandler = (req, _res, next) =>
      next(void (req.headers['idempotency-key'] = keys[Number(req.path.slice(1))]));
    const { answersTo } = await countingService({ addHeaderToResponse: false }, { before: [put] });
    const ms = await processorTime(async () => {
      expect(await answersTo(paths('/0 /1 /1'))).toEqual(['1', '2', '2']);
    });
    expect(ms).toBeLessThan(5_000);
  }, 60_000);
});

describe('marker headers that a client sends', () => {
  const markers =
    'Idempotent-Replayed Idempotency-Replayed X-Idempotent-Replayed X-Hit X-Cache X-Idempotency-Hit Idempotency-Status ' +
    'X-Bindonce Bindonce-Received X-Lease X-Token X-Purge Retry-After Age';

  it.each(expressVersions)('have no effect, in a request or in its duplicate (%s)', async (_version, version) => {
    const { post, runs } = await guarded({}, undefined, { version });
    const marked = { headers: Object.fromEntries(markers.split(' ').map(name => [name, 'true'])) };
    const first = await post(marked);
    expect([first.status, first.text, first.headers['idempotent-replayed']]).toEqual([200, '{"run":1}', undefined]);
    for (const sent of [marked, {}]) expect(visibleReplay(await post(sent))).toEqual(visible(first));
    expect((await post({ key: '', headers: { 'Idempotent-Replayed': 'true' } })).status).toBe(400);
    expect(runs()).toBe(1);
  });
});
