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
import { ask, toWire } from '../../support/ask';
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
});
