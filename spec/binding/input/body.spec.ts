import type { RequestHandler } from 'express';
import { bool, dto, field, formField, fromClaim, fromHeader, int, list, optional, plainText } from '../../../lib';
import { queryParam, routeParam, string } from '../../../lib';
import type { AnyType, BindingOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, outcome, urlEncoded } from '../../support/one-endpoint';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { multipart } from '../../support/multipart';

class Item extends dto({ sku: string, quantity: field(int, { default: 1 }) }) {}

const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const typed = (type: string, body: string | Buffer, headers: Record<string, string> = {}): Sent => ({
  body,
  headers: { 'Content-Type': type, ...headers },
});
const json = (body: string | Buffer, headers = {}): Sent => typed('application/json', body, headers);
const LARGE = JSON.stringify({ sku: 'a'.repeat(200) });

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each<[string, Sent, number]>([
    ['JSON', json('{"sku":"a"}'), 200],
    ['JSON in chunks', json('{"sku":"a"}', CHUNKED), 200],
    ['text', typed('text/plain', 'a'), 415],
    ['XML', typed('application/xml', '<a/>'), 415],
    ['bytes without a content type', { body: '{"sku":"a"}' }, 415],
    ['a content type that is none', typed(';;;', '{"sku":"a"}'), 415],
    ['almost JSON', typed('application/jsonp', '{"sku":"a"}'), 415],
    ['a form that is not accepted', { form: 'sku=a' }, 415],
    ['JSON in another charset', typed('application/json; charset=iso-8859-1', '{"sku":"a"}'), 415],
    ['JSON that is not UTF-8', json(Buffer.from([0x22, 0xff, 0x22])), 400],
    ['broken JSON', json('{"sku":'), 400],
    ['JSON with a comment', json('{"sku":"a"} // x'), 400],
    ['NaN', json('{"quantity":NaN}'), 400],
    ['more bytes than allowed', json(LARGE), 413],
    ['more bytes than allowed, in chunks', json(LARGE, CHUNKED), 413],
  ])('%s is answered with the right status', async (_what, sent, expected) => {
    const { status, problem, dto: bound } = await bind(Item, sent, { framework, limits: { bodyBytes: 100 } });
    const refused = expected === 200 ? undefined : expected;
    expect([status, problem?.status, bound === undefined]).toEqual([expected, refused, expected !== 200]);
    expect(problem?.errors).toBeUndefined();
  });
});

it.each<[string, AnyType, BindingOptions]>([
  ['a form field that may be missing', dto({ a: formField(string, { required: false }) }), {}],
  ['a field that JSON does not supply', dto({ a: field(string, { dontBind: ['json'], required: false }) }), {}],
  ['fieldSources without JSON', dto({ a: string }), { fieldSources: ['form', 'query'] }],
])('where forms are not accepted, one is not ignored: %s', async (_what, Dto, options) => {
  for (const sent of [{ form: 'a=1' }, { json: { a: '1' } }])
    expect((await bind(Dto, { path: '/?a=2', ...sent }, options)).status).toBe(415);
});

const FORM = 'application/x-www-form-urlencoded';

it.each<[string, AnyType, BindingOptions, string[]]>([
  ['JSON', Item, {}, ['application/json']],
  ['JSON and multipart', Item, { allowFormData: true }, ['application/json', 'multipart/form-data']],
  ['JSON and both forms', Item, urlEncoded, ['application/json', 'multipart/form-data', FORM]],
  ['JSON, for a list', list(Item), urlEncoded, ['application/json']],
])('a 415 names the accepted types: %s', async (_what, Dto, options, accepted) => {
  const { problem, response } = await bind(Dto, typed('text/plain', 'x'), options);
  const detail = `The content type "text/plain" is not accepted here; send ${accepted.join(' or ')}.`;
  expect(problem).toMatchObject({ type: 'urn:bindonce:body-unsupported', detail });
  expect(response.headers['accept']).toBe(accepted.join(', '));
});

it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])(
  'a %s without a body, whose values come from elsewhere, binds',
  async method => {
    class FromElsewhere extends dto({
      ...{ id: routeParam(int), tenant: fromHeader(string), userId: fromClaim(string), page: queryParam(int) },
      ...{ rush: field(bool, { default: false }), note: optional(string) },
    }) {}
    const sent = { method, path: '/7?page=2', headers: { Tenant: 't' } };
    const bound = { id: 7, tenant: 't', userId: 'u', page: 2, rush: false };
    expect(await outcome(FromElsewhere, sent, { route: '/:id', user: { userId: 'u' } })).toEqual(bound);
  },
);

it.each<[string, Sent]>([
  ['JSON', { json: { page: 3 } }],
  ['broken JSON', { json: '{' }],
  ['text', typed('text/plain', 'x')],
  ['a form', { form: 'page=3' }],
])('a dto that takes nothing from the body leaves it alone: %s', async (_what, sent) => {
  let left: unknown;
  const look: RequestHandler = (req, res, next) => {
    res.once('finish', () => (left = req.readableDidRead));
    next();
  };
  const bound = await outcome(dto({ page: queryParam(int) }), { ...sent, path: '/?page=2' }, { before: [look] });
  expect([bound, left]).toEqual([{ page: 2 }, false]);
});

describe('malformed multipart', () => {
  const part = '--x\r\nContent-Disposition: form-data; name="sku"\r\n\r\na\r\n';
  const klingon = part.replace('\r\n\r\n', '\r\nContent-Type: text/plain; charset=klingon\r\n\r\n');
  class Optional extends dto({ sku: optional(string) }) {}

  it.each([
    ['no closing boundary', part],
    ['half a closing boundary', `${part}--x`],
    ['another boundary', part.replaceAll('--x', '--y')],
    ['no boundary at all', 'garbage'],
    ['a header without an end', part.slice(0, 20)],
    ['a header that is none', '--x\r\nfoo\r\n\r\na\r\n--x--\r\n'],
    ['a part without a name', '--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--\r\n'],
    ['a charset that does not exist', `${klingon}--x--\r\n`],
    ...['--x  \t\r\n', '--x!\r\n', '--x\n', '--x-\r\n', `--x${' '.repeat(2_000)}\r\n`].map(boundary => [
      JSON.stringify(boundary.slice(0, 20)),
      `${part.replace('--x\r\n', boundary)}--x--\r\n`,
    ]),
  ])('%s is answered with 400, never with an empty dto', async (_what, body = '') => {
    for (const Dto of [Item, Optional]) {
      const sent = typed('multipart/form-data; boundary=x', body);
      const { status, problem } = await bind<AnyType>(Dto, sent, { allowFormData: true });
      expect([status, problem?.type]).toEqual([400, 'urn:bindonce:body-malformed']);
    }
  });

  it.each([
    ['an unquoted boundary that should be quoted', '; boundary=----=_Part_1', '------=_Part_1'],
    ['a quoted boundary', '; boundary="a \\"b:c"', '--a "b:c'],
    ['blanks around its parameters', ' ; charset=utf-8 ; boundary=x', '--x'],
    ['text behind its last boundary', '; boundary=x', '--x'],
  ])('a form with %s is read', async (_what, parameters, boundary) => {
    const body = `${part.replace('--x', boundary)}${boundary}--\r\nepilogue\r\n`;
    for (const headers of [{}, CHUNKED])
      expect(
        await outcome(Item, typed(`multipart/form-data${parameters}`, body, headers), { allowFormData: true }),
      ).toEqual({ sku: 'a', quantity: 1 });
  });
});

describe('a body with a Content-Encoding', () => {
  const ITEM = { sku: 'a'.repeat(50), quantity: 2 };
  const text = JSON.stringify(ITEM);
  const packed = (coding: string, body: Buffer, type = 'application/json'): Sent =>
    typed(type, body, { 'Content-Encoding': coding });

  describe.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('%s:', (coding, pack) => {
    it('JSON, a form and text are unpacked', async () => {
      expect(await outcome(Item, packed(coding, pack(text)))).toEqual(ITEM);
      const form = packed(coding, pack('sku=b&quantity=3'), FORM);
      expect(await outcome(Item, form)).toEqual({ sku: 'b', quantity: 3 });
      const plain = packed(coding, pack('text'), 'text/plain');
      expect(await outcome(dto({ text: plainText() }), plain)).toEqual({ text: 'text' });
    });

    it('a multipart form is refused', async () => {
      const { body, headers } = multipart([{ name: 'sku', value: 'a' }], 'b1');
      const { status, problem } = await bind(Item, packed(coding, pack(body), headers['Content-Type']), urlEncoded);
      expect([status, problem?.detail]).toEqual([415, 'A multipart form is accepted only without a Content-Encoding.']);
      const plain = packed('identity', body, headers['Content-Type']);
      expect(await outcome(Item, plain)).toEqual({ sku: 'a', quantity: 1 });
    });

    it('what is unpacked is bounded, however small it came', async () => {
      const bomb = pack(Buffer.alloc(20_000_000, ' '));
      expect(bomb.length).toBeLessThan(100_000);
      const { status, problem } = await bind(Item, packed(coding, bomb));
      expect([status, problem?.type]).toEqual([413, 'urn:bindonce:body-too-large']);
    });
  });

  it.each([
    ['what is not packed', packed('gzip', Buffer.from(text)), 400],
    ['what is cut off', packed('gzip', gzipSync(text).subarray(0, -12)), 400],
    ['what is packed otherwise', packed('br', gzipSync(text)), 400],
    ['an unknown coding', packed('zstd-next', Buffer.from(text)), 415],
    ['two codings', packed('gzip, gzip', gzipSync(gzipSync(text))), 415],
    ['a coding that is a property of objects', packed('constructor', Buffer.from(text)), 415],
  ])('%s is refused', async (_what, sent, expected) => {
    const { status, problem } = await bind(Item, sent);
    expect([status, problem?.status]).toEqual([expected, expected]);
  });
});
