import { BigNumber } from 'bignumber.js';
import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import multer from 'multer';
import { gzipSync } from 'node:zlib';
import { bindRequest, decimal, double, dto, file, idempotency, int, list, long, optional, string } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { pairs, type Sent } from '../../support/ask';
import { bind, failures, outcome, urlEncoded } from '../../support/one-endpoint';

class Order extends dto({ sku: string, sizes: list(int), note: optional(string) }) {}
class Upload extends dto({ title: string, photos: list(file) }) {}
class Exact extends dto({ id: optional(long), price: optional(decimal) }) {}
const ORDER = { sku: 'a', sizes: [3, 1, 2] };
const JSON_ORDER: Sent = { json: { ...ORDER, extra: 1 } };
const FORM = pairs('SKU=a&sizes[1]=1&sizes[0]=3&sizes[2]=2');
const QUERY: Sent = { path: '/?sku=a&sizes=3,1,2' };
const CHUNKED: Sent = { ...JSON_ORDER, headers: { 'Transfer-Encoding': 'chunked' } };
const PACKED: Sent = {
  body: gzipSync(JSON.stringify(ORDER)),
  headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
};

const none: RequestHandler = (_req, _res, next) => next();
const once = (): RequestHandler => idempotency({ store: new Keyv() });
const all = { type: () => true };
/** Keeps the bytes, as people do who verify a signature. */
const verify = (req: object, _res: object, rawBody: Buffer): void => void Object.assign(req, { rawBody });

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each<[string, RequestHandler, Sent]>([
    ['nothing', none, JSON_ORDER],
    ['nothing, in chunks', none, CHUNKED],
    ['nothing, packed', none, PACKED],
    ['nothing, a form', none, { form: FORM }],
    ['nothing, a multipart form', none, { multipart: FORM }],
    ['nothing, a query', none, QUERY],
    ['express.json()', express.json(), JSON_ORDER],
    ['express.json(), packed', express.json({ verify }), PACKED],
    ['express.urlencoded()', express.urlencoded(), { form: FORM }],
    ['express.urlencoded({ extended: true })', express.urlencoded({ extended: true }), { form: FORM }],
    ['express.text()', express.text(all), JSON_ORDER],
    ['express.text(), packed', express.text({ ...all, verify }), PACKED],
    ['express.text(), a form', express.text(all), { form: FORM }],
    ['express.raw()', express.raw(all), JSON_ORDER],
    ['express.raw(), packed', express.raw(all), PACKED],
    ['express.raw(), a form', express.raw(all), { form: FORM }],
    ['multer().none()', multer().none(), { multipart: FORM }],
    ['a parser for another type', express.text({ type: 'text/csv' }), JSON_ORDER],
  ])('after %s the dto is the same, with idempotency() behind, before or not at all', async (_parser, parser, sent) => {
    const other = express.json({ type: 'text/never' });
    for (const before of [
      [other, parser],
      [other, parser, once()],
      [once(), other, parser],
    ])
      expect(await outcome(Order, { ...sent, key: 'k' }, { framework, before })).toEqual(ORDER);
  });
});

it.each<[string, RequestHandler]>([
  ['any()', multer().any()],
  ['array()', multer().array('photos')],
  ['fields()', multer().fields([{ name: 'photos' }])],
  ['single()', multer().single('photos')],
])('files that multer().%s left are found', async (how, parser) => {
  const names = how === 'single()' ? ['a.png'] : ['a.png', 'b.png'];
  const multipart = [
    ['title', 't'],
    ...names.map(name => ['photos', new File([`of ${name}`], name)] as const),
  ] as const;
  const { dto: bound } = await bind(Upload, { multipart }, { before: [parser], allowFormData: true });
  const photos = bound?.photos.map(({ originalname, buffer }) => [originalname, buffer.toString()]);
  expect([bound?.title, photos]).toEqual(['t', names.map(name => [name, `of ${name}`])]);
});

it('the exact numbers that a parser before has made are read', async () => {
  class Paid extends dto({ units: int, cents: long, more: long, price: decimal, whole: decimal, rate: double }) {}
  const body = {
    ...{ units: 7n, cents: 9_007_199_254_740_993n, more: new BigNumber('9007199254740993') },
    ...{ price: new BigNumber('0.1000000000000000000001'), whole: 9_007_199_254_740_993n },
    rate: new BigNumber('0.12345678901234567'),
  };
  const parser: RequestHandler = (req, _res, next) => {
    req.body = body;
    next();
  };
  const { dto: bound } = await bind(Paid, { json: '{}' }, { before: [express.json(), parser] });
  expect({ ...bound, price: bound?.price.toFixed(), whole: bound?.whole.toFixed() }).toEqual({
    ...{ units: 7, cents: 9_007_199_254_740_993n, more: 9_007_199_254_740_993n },
    ...{ price: '0.1000000000000000000001', whole: '9007199254740993', rate: 0.12345678901234567 },
  });
});

describe('a number that express.json() has rounded is refused as that:', () => {
  const rounded = 'The number has more digits than can be read exactly here; send it as a string.';
  it.each([
    ['a long', '{"id":9007199254740993}', rounded],
    ['a decimal of 16 digits', '{"price":12345678901234.56}', rounded],
    ['a decimal of 17 digits', '{"price":12345678901234567}', rounded],
    ['a decimal that is round after it', '{"price":100000000000000001}', rounded],
    ['a decimal that may have been any of many', '{"price":1e21}', rounded],
    ['a decimal of 16 digits and a fraction', '{"price":4503599627370497.3}', rounded],
    ['a fraction of 17 digits', '{"price":0.12345678901234567}', rounded],
    ['but not a fraction', '{"id":1.5}', 'The value 1.5 is not a whole number of at most 64 bits.'],
  ])('%s', async (_what, json, detail) => {
    const { errors } = await bind(Exact, { json }, { before: [express.json()] });
    expect(errors.map(one => one.detail)).toEqual([detail]);
  });
});

it('a body that was read without leaving anything is an error, not an empty body', async () => {
  const drain: RequestHandler = (req, _res, next) => {
    req.resume().on('end', () => {
      delete (req as { body?: unknown }).body;
      next();
    });
  };
  const { status, response } = await bind(Order, JSON_ORDER, { before: [drain] });
  const message = expect.stringMatching(/^bindonce: the request body was read before this middleware/) as string;
  expect([status, response.text]).toEqual([500, message]);
});

it.each<[string, Sent, RequestHandler, unknown]>([
  ['express.json()', JSON_ORDER, express.json(), JSON_ORDER.json],
  ['express.urlencoded()', { form: FORM }, express.urlencoded(), Object.fromEntries(FORM)],
])('%s after bindRequest reads the body as if nothing had read it before', async (_parser, sent, parser, left) => {
  let body: unknown;
  const see: RequestHandler = (req, _res, next) => {
    ({ body } = req as { body: unknown });
    next();
  };
  const before = [bindRequest(Order, urlEncoded) as unknown as RequestHandler, parser, see];
  expect(await outcome(Order, sent, { before })).toEqual(ORDER);
  expect(body).toEqual(left);
});

/** JSON under a type that is none of JSON, which the parser of the application reads all the same, or `jsonTypes` names. */
describe.each(expressVersions)('types of JSON on %s', (_version, framework) => {
  const json: RequestHandler = framework.json({ ...all, strict: false });
  const typed = (type: string, body = JSON.stringify(ORDER)): Sent => ({
    ...{ key: 'k', body },
    headers: type === '' ? {} : { 'Content-Type': type },
  });

  it.each(['', 'text/plain', 'Text/Plain; charset=utf-8'])(
    'JSON that express.json() has read under %j is bound',
    async type => {
      for (const before of [() => [json], () => [json, once()], () => [once(), json]]) {
        expect(await outcome(Order, typed(type), { framework, before: before() })).toEqual(ORDER);
        expect(await outcome(list(int), typed(type, '[1,2]'), { framework, before: before() })).toEqual([1, 2]);
        expect(await failures(Order, typed(type, '{"sizes":"x"}'), { framework, before: before() })).toHaveLength(2);
      }
      for (const before of [[], [framework.json()], [framework.text(all)]])
        expect(await outcome(Order, typed(type), { framework, before })).toBe(415);
      expect(await outcome(Order, typed('application/xml'), { framework, before: [json] })).toBe(415);
    },
  );

  it.each(['text/plain', 'TEXT/plain;charset=utf-8', 'application/csp-report', 'application/json'])(
    'jsonTypes names further types, in any case, whoever reads them: %s',
    async type => {
      const options = { framework, jsonTypes: ['text/plain', 'Application/CSP-Report'] };
      for (const before of [[], [json], [once()]])
        expect(await outcome(Order, typed(type), { ...options, before })).toEqual(ORDER);
      expect((await bind(Order, typed(type, '{'), options)).problem?.type).toBe('urn:bindonce:body-malformed');
      expect(await outcome(Order, typed('text/html'), options)).toBe(415);
    },
  );
});
