import express from 'express';
import { z } from 'zod';
import {
  bindRequest,
  bool,
  configure,
  dto,
  enumOf,
  field,
  fromClaim,
  fromCookie,
  fromForm,
  fromHeader,
  fromQuery,
  int,
  list,
  nullable,
  optional,
  queryParam,
  queryValue,
  routeParam,
  string,
  valueParserFor,
  type AnyType,
  type ParseResult,
  type ValueParser,
} from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

/** Nothing is declared about it: it is read by parsers alone. */
class Money {
  constructor(readonly cents: number) {}
}
/** Reads itself from text. */
class Code {
  constructor(readonly text: string) {}
  static tryParse(text: string | undefined): ParseResult<Code> {
    return text === undefined ? { success: false } : { success: true, value: new Code(text) };
  }
}
class Point extends dto({ x: int, y: int }) {}

const success = <T>(value: T): ParseResult<T> => ({ success: true, value });
const failure: ParseResult<never> = { success: false };

const money = valueParserFor(Money, text =>
  /^\d+\.\d\d$/.test(text ?? '') ? success(new Money(Math.round(Number(text) * 100))) : failure,
);
const price = new Money(1250);
const valueParsers = [money];

describe("a parser takes precedence over the type's own reading", () => {
  const word = enumOf(['a', 'b']);
  const semicolons = list(int);
  const email = z.email();

  it.each<[string, AnyType, ValueParser, string, unknown]>([
    ['tryParse', Code, valueParserFor(Code, text => success(new Code(`<${text}>`))), 'x', new Code('<x>')],
    ['int', int, valueParserFor(int, text => success(parseInt(text ?? '', 16))), 'ff', 255],
    ['bool', bool, valueParserFor(bool, text => success(text === 'on')), 'on', true],
    ['string', string, valueParserFor(string, text => success(`${text}!`)), '', '!'],
    ['an enum', word, valueParserFor(word, text => (text === 'first' ? success('a') : failure)), 'first', 'a'],
    [
      'a list',
      semicolons,
      valueParserFor(semicolons, text => success((text ?? '').split(';').map(Number))),
      '1;2',
      [1, 2],
    ],
    [
      'a dto',
      Point,
      valueParserFor(Point, text => success(Object.assign(new Point(), { x: Number(text), y: 0 }))),
      '7',
      { x: 7, y: 0 },
    ],
    ['a schema', email, valueParserFor(email, text => success(`${text}@example.org`)), 'me', 'me@example.org'],
  ])('%s', async (_what, type, parser, text, value) => {
    class One extends dto({ v: type }) {}
    expect((await bind(One, { path: `/?v=${text}` }, { valueParsers: [parser] })).dto).toEqual({ v: value });
    expect((await bind(One, { path: `/?v=${text}` })).dto).not.toEqual({ v: value });
  });

  it('and is asked about text only, never about JSON', async () => {
    class One extends dto({ code: Code, n: int, lines: list(Code), point: Point }) {}
    const parsers = [
      valueParserFor(Code, () => failure),
      valueParserFor(int, () => failure),
      valueParserFor(Point, () => failure),
    ];
    const values = { code: 'x', n: 7, lines: ['a', 'b'], point: { x: 1, y: 2 } };
    const bound = { code: new Code('x'), n: 7, lines: [new Code('a'), new Code('b')], point: { x: 1, y: 2 } };
    expect((await bind(One, { json: values }, { valueParsers: parsers })).dto).toEqual(bound);
    expect(
      (
        await bind(
          class extends dto({ all: queryParam(One), some: queryParam(list(Code)) }) {},
          { path: `/?all=${encodeURIComponent(JSON.stringify(values))}&some=["a"]` },
          { valueParsers: parsers },
        )
      ).dto,
    ).toEqual({ all: bound, some: [new Code('a')] });
    expect(
      (await bind(class extends dto({ all: fromClaim(One) }) {}, {}, { valueParsers: parsers, user: { all: values } }))
        .dto,
    ).toEqual({ all: bound });
  });
});

describe('a class about which nothing is declared', () => {
  it.each<[string, AnyType, Sent]>([
    ['a query', class extends dto({ price: queryParam(Money) }) {}, { path: '/?price=12.50' }],
    ['a route', class extends dto({ price: routeParam(Money) }) {}, { path: '/12.50' }],
    ['a form', class extends dto({ price: Money }) {}, { form: [['price', '12.50']] }],
    ['a multipart form', class extends dto({ price: Money }) {}, { multipart: [['price', '12.50']] }],
    ['a header', class extends dto({ price: fromHeader(Money) }) {}, { headers: { price: '12.50' } }],
    ['a cookie', class extends dto({ price: fromCookie(Money) }) {}, { headers: { Cookie: 'price=12.50' } }],
    ['a claim', class extends dto({ price: fromClaim(Money, { name: 'sub' }) }) {}, {}],
    ['an optional property', class extends dto({ price: optional(Money) }) {}, { path: '/?price=12.50' }],
    ['a nullable property', class extends dto({ price: nullable(Money) }) {}, { path: '/?price=12.50' }],
  ])('is read from %s', async (_source, Dto, sent) => {
    const { dto: bound } = await bind(Dto, sent, {
      ...urlEncoded,
      route: '/{:price}',
      user: { sub: '12.50' },
      valueParsers,
    });
    expect(bound).toEqual({ price });
    expect((bound as { price: unknown }).price).toBeInstanceOf(Money);
  });

  it('is read in nested names of a query and of a form', async () => {
    class Line extends dto({ price: Money, all: list(Money), maybe: optional(Money) }) {}
    class Order extends dto({ line: Line, lines: list(Line) }) {}
    const names = [
      ['line.price', '12.50'],
      ['line.all', '12.50'],
      ['lines[0].price', '12.50'],
      ['lines[0].all[0]', '12.50'],
      ['lines[0].maybe', '12.50'],
    ] as const;
    const bound = { all: { line: { price, all: [price] }, lines: [{ price, all: [price], maybe: price }] } };
    expect(
      (await bind(class extends dto({ all: fromForm(Order) }) {}, { form: names }, { ...urlEncoded, valueParsers }))
        .dto,
    ).toEqual(bound);
    const { dto: asked, errors } = await bind(
      class extends dto({ all: fromQuery(Order) }) {},
      { path: `/?${names.map(pair => pair.join('=')).join('&')}` },
      { valueParsers },
    );
    expect([asked, errors]).toEqual([bound, []]);
  });

  it('cannot be read from JSON', async () => {
    expect(
      (await bind(class extends dto({ price: Money }) {}, { json: { price: '12.50' } }, { valueParsers })).errors,
    ).toEqual([{ name: 'price', in: 'json', pointer: '/price', detail: 'The value "12.50" is not a Money.' }]);
  });

  it('is refused by its name where there is no parser for it', () => {
    class Offer extends dto({ price: list(Money) }) {}
    expect(() => bindRequest(Offer, { valueParsers: [valueParserFor(Code, () => failure)] })).toThrow(
      /Offer\.price: Money has no declared properties and no static tryParse/,
    );
    expect(() => bindRequest(Offer, { valueParsers })).not.toThrow();
  });
});

describe('a value that a parser refuses', () => {
  class Offer extends dto({ price: queryParam(Money), all: queryParam(list(Money), { required: false }) }) {}

  it.each([
    ['?price=12', [{ name: 'price', in: 'query', detail: 'The value "12" is not a Money.' }]],
    ['?price=', [{ name: 'price', in: 'query', detail: 'The value "" is not a Money.' }]],
    ['?price=12.50&price=12.50', [{ name: 'price', in: 'query', detail: 'There are 2 values where one is expected.' }]],
    ['?price=12.50&all=12.50,x', [{ name: 'all[1]', in: 'query', detail: 'The value "x" is not a Money.' }]],
  ])('is a failure: %s', async (query, errors) => {
    expect(await bind(Offer, { path: `/${query}` }, { valueParsers })).toMatchObject({ status: 400, errors });
  });

  it('empty text is no value where one may be missing, and no parser is asked', async () => {
    const asked: unknown[] = [];
    class Loose extends dto({ price: optional(Money), other: field(Money, { default: () => price }) }) {}
    const { dto: bound } = await bind(
      Loose,
      { path: '/?price=&other=' },
      {
        valueParsers: [
          valueParserFor(Money, text => {
            asked.push(text);
            return failure;
          }),
        ],
      },
    );
    expect([bound, asked]).toEqual([{ other: price }, []]);
  });

  it("an error that it throws is the application's", async () => {
    const { status, response } = await bind(
      Offer,
      { path: '/?price=1' },
      {
        valueParsers: [
          valueParserFor(Money, () => {
            throw new Error('no rates');
          }),
        ],
      },
    );
    expect([status, response.text]).toEqual([500, 'no rates']);
  });
});

describe('configure()', () => {
  const shout = valueParserFor(Code, text => success(new Code(`${text}!`)));
  const asking = valueParserFor(Code, text => success(new Code(`${text}?`)));
  const configured = configure({ binding: { valueParsers: [shout, money] } });
  class Both extends dto({ code: queryParam(Code), price: queryParam(Money) }) {}

  it('has parsers for all endpoints; those of an endpoint come first, and the others are still there', async () => {
    const app = express();
    app.get('/app', configured.bindRequest(Both), (req, res) => {
      res.json(req.dto);
    });
    app.get('/endpoint', configured.bindRequest(Both, { valueParsers: [asking, shout] }), (req, res) => {
      res.json(req.dto);
    });
    app.get('/plain', bindRequest(Both, { valueParsers }), (req, res) => {
      res.json(req.dto);
    });
    const answers = await Promise.all(
      ['/app', '/endpoint', '/plain'].map(path => ask(app, { method: 'GET', path: `${path}?code=x&price=12.50` })),
    );
    expect(answers.map(({ body }) => body as unknown)).toEqual(
      ['x!', 'x?', 'x'].map(text => ({ code: { text }, price: { cents: 1250 } })),
    );
  });

  it('routeValue() and queryValue() that it returns use them, the plain ones do not', async () => {
    const { routeValue, queryValue: configuredQuery } = configured;
    const app = express().get('/:price', (req, res) => {
      res.json([
        routeValue(req, 'price', Money),
        configuredQuery(req, 'code', Code),
        configuredQuery(req, 'all', list(Money)),
        configuredQuery(req, 'none', Money, { required: false }) ?? null,
        queryValue(req, 'code', Code),
      ]);
    });
    expect((await ask(app, { method: 'GET', path: '/12.50?code=x&all=1.00,2.00' })).body).toEqual([
      { cents: 1250 },
      { text: 'x!' },
      [{ cents: 100 }, { cents: 200 }],
      null,
      { text: 'x' },
    ]);
  });
});

it('an invalid parser is refused when the middleware is made', () => {
  expect(() => valueParserFor(Money, undefined as unknown as () => typeof failure)).toThrow(
    new TypeError(
      'valueParserFor takes a type and a function (input) => ({ success, value }); the function is undefined',
    ),
  );
  expect(() => valueParserFor(null as unknown as typeof Money, () => failure)).toThrow(/; the type is null$/);
  expect(() => bindRequest(Point, { valueParsers: [Money as unknown as ValueParser] })).toThrow(
    'valueParsers must be an array of results of valueParserFor()',
  );
  expect(() => configure({ binding: { valueParsers: money as unknown as ValueParser[] } })).toThrow(
    'valueParsers must be an array of results of valueParserFor()',
  );
});
