import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import express, { type RequestHandler } from 'express';
import {
  bindRequest,
  dto,
  file,
  fromHeader,
  headerValue,
  idempotency,
  int,
  list,
  optional,
  string,
} from '../../../lib';
import { ask, toWire, type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

it('a header that is sent twice is not a scalar, though node keeps only the first of some', async () => {
  class Once extends dto({ length: fromHeader(int, { name: 'Max-Forwards' }) }) {}
  expect((await bind(Once, { headers: { 'Max-Forwards': ['1', '2'] } })).errors).toEqual([
    { name: 'Max-Forwards', in: 'header', detail: 'There are 2 values where one is expected.' },
  ]);
});

it.each([
  ['\xc3\xbc', 'ü'],
  ['\xf0\x9f\x92\xb6 \xc3\xbc', '💶 ü'],
  ['\xfc', '\xfc'],
  ['\xc3\xbc\xfc', '\xc3\xbc\xfc'],
  ['u', 'u'],
])('a header with the bytes %j is %j: UTF-8 where it is that, else Latin-1', async (sent, text) => {
  class Named extends dto({ name: fromHeader(string, { name: 'X-Name' }) }) {}
  expect((await bind(Named, { headers: { 'X-Name': sent } })).dto).toEqual({ name: text });
  class Names extends dto({ names: fromHeader(list(string), { name: 'X-Name' }) }) {}
  expect((await bind(Names, { headers: { 'X-Name': [sent, 'b'] } })).dto).toEqual({ names: [text, 'b'] });
});

it('a header that a middleware has set is the text that it has set', async () => {
  class Named extends dto({ name: fromHeader(string, { name: 'X-Name' }) }) {}
  const set: RequestHandler = (req, _res, next) => {
    req.headers['x-name'] = '\u20ac \xc3\xbc';
    next();
  };
  expect((await bind(Named, {}, { before: [set] })).dto).toEqual({ name: '\u20ac \xc3\xbc' });
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
});

describe('a header that announces a multipart form is read as it was sent', () => {
  class Upload extends dto({
    doc: optional(file),
    size: fromHeader(optional(int), { name: 'Content-Length' }),
    coding: fromHeader(optional(string), { name: 'transfer-encoding' }),
    type: fromHeader(string, { name: 'Content-Type' }),
  }) {}
  const multipart = [['doc', new File(['abc'], 'a.txt')]] as const;
  const options = { allowFormData: true };

  it.each<[string, RequestHandler[]]>([
    ['straight from the connection', []],
    ['by an earlier bindRequest()', [bindRequest(Upload, options)]],
    ['behind idempotency()', [idempotency()]],
  ])('%s', async (_how, before) => {
    let single: unknown;
    const app = express().post('/', ...before, bindRequest(Upload, options), (req, res) => {
      single = headerValue(req, 'Content-Length', int, { required: false });
      const { doc, size, coding } = req.dto;
      res.json({ name: doc?.originalname, size, coding, hasType: req.dto.type === req.headers['content-type'] });
    });
    const { body } = await toWire({ multipart });
    const length = Buffer.byteLength(body ?? '');
    expect((await ask(app, { key: randomUUID(), multipart })).body).toEqual({
      name: 'a.txt',
      size: length,
      hasType: true,
    });
    expect(single).toBe(length);
    const chunked = { 'Transfer-Encoding': 'chunked' };
    expect((await ask(app, { key: randomUUID(), multipart, headers: chunked })).body).toEqual({
      name: 'a.txt',
      coding: 'chunked',
      hasType: true,
    });
    expect(single).toBeUndefined();
  });

  it('but not where an earlier middleware has deleted it', async () => {
    const remove: RequestHandler = (req, _res, next) => {
      delete req.headers['content-length'];
      next();
    };
    expect((await bind(Upload, { multipart }, { ...options, before: [remove] })).dto?.size).toBeUndefined();
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
