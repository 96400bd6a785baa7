import { BigNumber } from 'bignumber.js';
import express, { type RequestHandler } from 'express';
import multer from 'multer';
import { bindRequest, decimal, double, dto, file, int, list, long, optional, string } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Order extends dto({ sku: string, sizes: list(int), note: optional(string) }) {}
class Upload extends dto({ title: string, photos: list(file) }) {}
const JSON_ORDER: Sent = { json: { sku: 'a', sizes: [3, 1, 2], extra: 1 } };
const FORM = [
  ['SKU', 'a'],
  ['sizes[1]', '1'],
  ['sizes[0]', '3'],
  ['sizes[2]', '2'],
] as const;
const ORDER = { sku: 'a', sizes: [3, 1, 2] };

it('a number that express.json() has rounded is refused as that', async () => {
  class Exact extends dto({ price: decimal, id: long, count: long }) {}
  const rounded = 'The number has more digits than can be read exactly here; send it as a string.';
  const { errors } = await bind(
    Exact,
    { json: '{"price":12345678901234.56,"id":9007199254740993,"count":1.5}' },
    { before: [express.json()] },
  );
  expect(errors).toMatchObject([
    { name: 'price', detail: rounded },
    { name: 'id', detail: rounded },
    { name: 'count', detail: 'The value 1.5 is not a whole number of at most 64 bits.' },
  ]);
});

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each<[string, RequestHandler, Sent]>([
    ['express.json()', express.json(), JSON_ORDER],
    ['express.json() and express.urlencoded(), for a form', express.urlencoded(), { form: FORM }],
    ['express.urlencoded({ extended: true })', express.urlencoded({ extended: true }), { form: FORM }],
    ['express.text()', express.text({ type: () => true }), JSON_ORDER],
    ['express.text(), for a form', express.text({ type: () => true }), { form: FORM }],
    ['express.raw()', express.raw({ type: () => true }), JSON_ORDER],
    ['express.raw(), for a form', express.raw({ type: () => true }), { form: FORM }],
    ['multer().none()', multer().none(), { multipart: FORM }],
    ['a parser for another type', express.text({ type: 'text/csv' }), JSON_ORDER],
  ])('after %s the dto is the same', async (_parser, parser, sent) => {
    expect(
      (await bind(Order, sent, { framework, before: [express.json({ type: 'text/never' }), parser], ...urlEncoded }))
        .dto,
    ).toEqual(ORDER);
  });
});

it.each<[string, RequestHandler]>([
  ['any()', multer().any()],
  ['array()', multer().array('photos')],
  ['fields()', multer().fields([{ name: 'photos' }])],
])('files that multer().%s left are found', async (_how, parser) => {
  const { dto: bound } = await bind(
    Upload,
    {
      multipart: [
        ['title', 't'],
        ['photos', new File(['1'], 'a.png')],
        ['photos', new File(['2'], 'b.png')],
      ],
    },
    { before: [parser], allowFormData: true },
  );
  expect([bound?.title, bound?.photos.map(({ originalname, buffer }) => [originalname, buffer.toString()])]).toEqual([
    't',
    [
      ['a.png', '1'],
      ['b.png', '2'],
    ],
  ]);
});

it('the file that multer().single() left is found', async () => {
  class One extends dto({ photo: file }) {}
  const multipart = [['photo', new File(['1'], 'a.png')]] as const;
  const before = [multer().single('photo')];
  expect((await bind(One, { multipart }, { before, allowFormData: true })).dto?.photo.originalname).toBe('a.png');
});

it('the exact numbers that a parser before has made are read', async () => {
  class Paid extends dto({
    units: int,
    cents: long,
    more: long,
    price: decimal,
    whole: decimal,
    rate: double,
  }) {}
  const body = {
    units: 7n,
    cents: 9_007_199_254_740_993n,
    more: new BigNumber('9007199254740993'),
    price: new BigNumber('0.1000000000000000000001'),
    whole: 9_007_199_254_740_993n,
    rate: new BigNumber('0.12345678901234567'),
  };
  const parser: RequestHandler = (req, _res, next) => {
    req.body = body;
    next();
  };
  const { dto: bound } = await bind(Paid, { json: '{}' }, { before: [express.json(), parser] });
  expect({ ...bound, price: bound?.price.toFixed(), whole: bound?.whole.toFixed() }).toEqual({
    ...body,
    units: 7,
    more: 9_007_199_254_740_993n,
    price: '0.1000000000000000000001',
    whole: '9007199254740993',
    rate: 0.12345678901234567,
  });
});

describe('numbers that a parser before has rounded', () => {
  class Exact extends dto({ id: optional(long), price: optional(decimal) }) {}
  const json = '{"id":9007199254740993}';

  it.each([
    ['a long', json],
    ['a decimal of 17 digits', '{"price":12345678901234567}'],
    ['a decimal that is round after it', '{"price":100000000000000001}'],
    ['a decimal that may have been any of many', '{"price":1e21}'],
    ['a decimal of 16 digits and a fraction', '{"price":4503599627370497.3}'],
    ['a fraction of 17 digits', '{"price":0.12345678901234567}'],
  ])('are refused: %s', async (_what, sent) => {
    expect((await bind(Exact, { json: sent }, { before: [express.json()] })).status).toBe(400);
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
  expect([status, response.text]).toEqual([
    500,
    expect.stringMatching(/^bindonce: the request body was read before this middleware/),
  ]);
});

describe('middlewares after bindRequest', () => {
  // Its type says more than that of any handler, so that it can be told from the ones that bind nothing.
  const bindsBefore = bindRequest(Order, urlEncoded) as unknown as RequestHandler;

  it.each<[string, Sent, RequestHandler]>([
    ['express.json()', JSON_ORDER, express.json()],
    ['express.urlencoded()', { form: FORM }, express.urlencoded()],
  ])('%s reads the body as if nothing had read it before', async (_parser, sent, parser) => {
    let body: unknown;
    const seen: RequestHandler[] = [
      bindsBefore,
      parser,
      (req, _res, next) => {
        body = req.body;
        next();
      },
    ];
    expect((await bind(Order, sent, { before: seen, ...urlEncoded })).dto).toEqual(ORDER);
    expect(body).toEqual(sent.json ?? { SKU: 'a', 'sizes[0]': '3', 'sizes[1]': '1', 'sizes[2]': '2' });
  });
});
