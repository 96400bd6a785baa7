import {
  bool,
  dto,
  field,
  formField,
  fromClaim,
  fromHeader,
  int,
  list,
  optional,
  plainText,
  queryParam,
  routeParam,
  string,
  type AnyType,
  type BindingOptions,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';
import express from 'express';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { multipart } from '../../support/multipart';

class Item extends dto({ sku: string, quantity: field(int, { default: 1 }) }) {}
class Search extends dto({ page: queryParam(int) }) {}

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each<[string, Sent, number]>([
    ['JSON', { json: { sku: 'a' } }, 200],
    ['text', { body: 'a', headers: { 'Content-Type': 'text/plain' } }, 415],
    ['XML', { body: '<a/>', headers: { 'Content-Type': 'application/xml' } }, 415],
    ['bytes without a content type', { body: '{"sku":"a"}' }, 415],
    ['a content type that is none', { body: '{"sku":"a"}', headers: { 'Content-Type': ';;;' } }, 415],
    ['almost JSON', { body: '{"sku":"a"}', headers: { 'Content-Type': 'application/jsonp' } }, 415],
    ['a form that is not accepted', { form: 'sku=a' }, 415],
    [
      'JSON in another charset',
      { json: { sku: 'a' }, headers: { 'Content-Type': 'application/json; charset=iso-8859-1' } },
      415,
    ],
    [
      'JSON that is not UTF-8',
      { body: Buffer.from([0x22, 0xff, 0x22]), headers: { 'Content-Type': 'application/json' } },
      400,
    ],
    ['broken JSON', { json: '{"sku":' }, 400],
    ['JSON with a comment', { json: '{"sku":"a"} // x' }, 400],
    ['NaN', { json: '{"quantity":NaN}' }, 400],
    ['more bytes than allowed', { json: { sku: 'a'.repeat(200) } }, 413],
    [
      'more bytes than allowed, in chunks',
      { json: { sku: 'a'.repeat(200) }, headers: { 'Transfer-Encoding': 'chunked' } },
      413,
    ],
    ['JSON in chunks', { json: { sku: 'a' }, headers: { 'Transfer-Encoding': 'chunked' } }, 200],
  ])('%s is answered with the right status', async (_what, sent, expected) => {
    const { status, problem, dto: bound } = await bind(Item, sent, { framework, limits: { bodyBytes: 100 } });
    expect({ status, problem: problem?.status, ran: bound !== undefined }).toEqual({
      status: expected,
      problem: expected === 200 ? undefined : expected,
      ran: expected === 200,
    });
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

it.each<[string, AnyType, BindingOptions, string[]]>([
  ['JSON', Item, {}, ['application/json']],
  ['JSON and multipart', Item, { allowFormData: true }, ['application/json', 'multipart/form-data']],
  [
    'JSON and both forms',
    Item,
    urlEncoded,
    ['application/json', 'multipart/form-data', 'application/x-www-form-urlencoded'],
  ],
  ['JSON, for a list', list(Item), urlEncoded, ['application/json']],
])('a 415 names the accepted types: %s', async (_what, Dto, options, accepted) => {
  const { problem, response } = await bind(Dto, { body: 'x', headers: { 'Content-Type': 'text/plain' } }, options);
  expect(problem).toMatchObject({
    type: 'urn:bindonce:body-unsupported',
    detail: `The content type "text/plain" is not accepted here; send ${accepted.join(' or ')}.`,
  });
  expect(response.headers['accept']).toBe(accepted.join(', '));
});

describe('no body at all', () => {
  class FromElsewhere extends dto({
    id: routeParam(int),
    tenant: fromHeader(string),
    userId: fromClaim(string),
    page: queryParam(int),
    rush: field(bool, { default: false }),
    note: optional(string),
  }) {}
  const elsewhere = { path: '/7?page=2', headers: { Tenant: 't' } };
  const options = { route: '/:id', user: { userId: 'u' } };
  const bound = { id: 7, tenant: 't', userId: 'u', page: 2, rush: false };

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])('a %s whose values come from elsewhere binds', async method => {
    expect((await bind(FromElsewhere, { ...elsewhere, method }, options)).dto).toEqual(bound);
  });
});

it.each<[string, Sent]>([
  ['JSON', { json: { page: 3 } }],
  ['broken JSON', { json: '{' }],
  ['text', { body: 'x', headers: { 'Content-Type': 'text/plain' } }],
  ['a form', { form: 'page=3' }],
])('a dto that takes nothing from the body leaves it alone: %s', async (_what, sent) => {
  let left: unknown;
  const after = await bind(
    Search,
    { ...sent, path: '/?page=2' },
    {
      before: [
        (req, res, next) => {
          res.once('finish', () => {
            left = req.readableDidRead;
          });
          next();
        },
      ],
    },
  );
  expect([after.dto, left]).toEqual([{ page: 2 }, false]);
});

describe('malformed multipart', () => {
  const part = '--x\r\nContent-Disposition: form-data; name="sku"\r\n\r\na\r\n';
  it.each([
    ['no closing boundary', part],
    ['half a closing boundary', `${part}--x`],
    ['another boundary', part.replaceAll('--x', '--y')],
    ['no boundary at all', 'garbage'],
    ['a header without an end', part.slice(0, 20)],
    ['a header that is none', '--x\r\nfoo\r\n\r\na\r\n--x--\r\n'],
    ['a part without a name', '--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--\r\n'],
    [
      'a charset that does not exist',
      '--x\r\nContent-Disposition: form-data; name="sku"\r\nContent-Type: text/plain; charset=klingon\r\n\r\na\r\n--x--\r\n',
    ],
  ])('%s is answered with 400', async (_what, body) => {
    const { status, problem } = await bind(
      Item,
      { body, headers: { 'Content-Type': 'multipart/form-data; boundary=x' } },
      { allowFormData: true },
    );
    expect([status, problem?.type]).toEqual([400, 'urn:bindonce:body-malformed']);
  });

  it.each<[string, string, string]>([
    [
      'an unquoted boundary that should be quoted',
      'multipart/form-data; boundary=----=_Part_1',
      part.replace('--x', '------=_Part_1'),
    ],
    ['a quoted boundary', 'multipart/form-data; boundary="a \\"b:c"', part.replace('--x', '--a "b:c')],
    ['blanks around its parameters', 'multipart/form-data ; charset=utf-8 ; boundary=x', part],
    ['text behind its last boundary', 'multipart/form-data; boundary=x', part],
  ])('a form with %s is read', async (_what, type, body) => {
    const boundary = body.slice(0, body.search(/[ \t]*\r\n/));
    for (const headers of [{}, { 'Transfer-Encoding': 'chunked' }] as Record<string, string>[]) {
      const { dto: bound } = await bind(
        Item,
        { body: `${body}${boundary}--\r\nepilogue\r\n`, headers: { 'Content-Type': type, ...headers } },
        { allowFormData: true },
      );
      expect(bound).toEqual({ sku: 'a', quantity: 1 });
    }
  });

  it.each(['--x  \t\r\n', '--x!\r\n', '--x\n', '--x-\r\n', `--x${' '.repeat(2_000)}\r\n`])(
    '%j instead of a boundary is answered with 400, never with an empty dto',
    async boundary => {
      class Optional extends dto({ sku: optional(string) }) {}
      const { status, problem } = await bind(
        Optional,
        {
          body: `${part.replace('--x\r\n', boundary)}--x--\r\n`,
          headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
        },
        { allowFormData: true },
      );
      expect([status, problem?.type]).toEqual([400, 'urn:bindonce:body-malformed']);
    },
  );
});

describe('a body with a Content-Encoding', () => {
  class Packed extends dto({ sku: string, quantity: optional(int) }) {}
  class Note extends dto({ text: plainText() }) {}

  const JSON_PACKED = JSON.stringify({ sku: 'a'.repeat(50), quantity: 2 });
  const packers = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const;
  const packed = (coding: string, body: Buffer, type = 'application/json'): Sent => ({
    body,
    headers: { 'Content-Type': type, 'Content-Encoding': coding },
  });

  it.each(packers)('%s: JSON, a form and text are unpacked', async (coding, pack) => {
    expect((await bind(Packed, packed(coding, pack(JSON_PACKED)))).dto).toEqual(JSON.parse(JSON_PACKED));
    expect(
      (await bind(Packed, packed(coding, pack('sku=b&quantity=3'), 'application/x-www-form-urlencoded'), urlEncoded))
        .dto,
    ).toEqual({ sku: 'b', quantity: 3 });
    expect((await bind(Note, packed(coding, pack('text'), 'text/plain'))).dto).toEqual({ text: 'text' });
  });

  it.each(packers)('%s: a multipart form is refused', async (coding, pack) => {
    const { body, headers } = multipart([{ name: 'sku', value: 'a' }], 'b1');
    const { status, problem } = await bind(Packed, packed(coding, pack(body), headers['Content-Type']), {
      allowFormData: true,
    });
    expect([status, problem?.detail]).toEqual([415, 'A multipart form is accepted only without a Content-Encoding.']);
    expect(
      (await bind(Packed, packed('identity', body, headers['Content-Type']), { allowFormData: true })).status,
    ).toBe(200);
  });

  it.each(packers)('%s: what is unpacked is bounded, however small it came', async (coding, pack) => {
    const bomb = pack(Buffer.alloc(20_000_000, ' '));
    expect(bomb.length).toBeLessThan(100_000);
    const { status, problem } = await bind(Packed, packed(coding, bomb));
    expect([status, problem?.type]).toEqual([413, 'urn:bindonce:body-too-large']);
  });

  it.each([
    ['what is not packed', packed('gzip', Buffer.from(JSON_PACKED)), 400],
    ['what is cut off', packed('gzip', gzipSync(JSON_PACKED).subarray(0, -12)), 400],
    ['what is packed otherwise', packed('br', gzipSync(JSON_PACKED)), 400],
    ['an unknown coding', packed('zstd-next', Buffer.from(JSON_PACKED)), 415],
    ['two codings', packed('gzip, gzip', gzipSync(gzipSync(JSON_PACKED))), 415],
    ['a coding that is a property of objects', packed('constructor', Buffer.from(JSON_PACKED)), 415],
  ])('%s is refused', async (_what, sent, expected) => {
    const { status, problem } = await bind(Packed, sent);
    expect([status, problem?.status]).toEqual([expected, expected]);
  });

  const keepRaw = (req: object, _res: object, rawBody: Buffer): void => {
    Object.assign(req, { rawBody });
  };

  it.each([
    ['express.json()', express.json()],
    ['express.json() that keeps req.rawBody', express.json({ verify: keepRaw })],
    ['express.raw()', express.raw({ type: 'application/json' })],
    ['express.text() that keeps req.rawBody', express.text({ type: 'application/json', verify: keepRaw })],
  ])('a body that %s has unpacked is not unpacked again', async (_parser, parser) => {
    expect((await bind(Packed, packed('gzip', gzipSync(JSON_PACKED)), { before: [parser] })).dto).toEqual(
      JSON.parse(JSON_PACKED),
    );
  });
});
