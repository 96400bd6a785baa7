import express from 'express';
import { z } from 'zod';
import {
  bindRequest,
  configure,
  dateTime,
  dto,
  field,
  fromBody,
  fromClaim,
  fromHeader,
  fromQuery,
  int,
  list,
  long,
  nullable,
  optional,
  queryParam,
  RequestBinder,
  routeParam,
  serializerContext,
  string,
  valueParserFor,
  type AnyType,
  type BindingOptions,
  type JsonConverter,
  type ParseResult,
} from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

/** Nothing is declared about it: its JSON is `{ "amount": "12.50" }`, or text. */
class Money {
  constructor(readonly cents: number) {}
}
class Code {
  constructor(readonly text: string) {}
  static tryParse(text: string | undefined): ParseResult<Code> {
    return text === undefined ? { success: false } : { success: true, value: new Code(text) };
  }
}
class Point extends dto({ x: int, y: int }) {}

const success = <T>(value: T): ParseResult<T> => ({ success: true, value });
const failure: ParseResult<never> = { success: false };

const money: JsonConverter<Money> = {
  type: Money,
  read(json) {
    const amount = typeof json === 'string' ? json : (json as { amount?: unknown } | null)?.amount;
    return typeof amount === 'string' && /^\d+\.\d\d$/.test(amount)
      ? success(new Money(Math.round(Number(amount) * 100)))
      : failure;
  },
  write: ({ cents }) => ({ amount: (cents / 100).toFixed(2) }),
};
const sent = { amount: '12.50' };
const price = new Money(1250);
const converters = [money];
const written = encodeURIComponent(JSON.stringify(sent));

describe('a class about which nothing is declared', () => {
  class Inner extends dto({ price: Money }) {}

  it.each<[string, AnyType, Sent, unknown]>([
    ['a property', class extends dto({ price: Money }) {}, { json: { price: sent } }, { price }],
    ['a list', class extends dto({ all: list(Money) }) {}, { json: { all: [sent, '12.50'] } }, { all: [price, price] }],
    ['a nested dto', class extends dto({ in: Inner }) {}, { json: { in: { price: sent } } }, { in: { price } }],
    ['fromBody', class extends dto({ price: fromBody(Money) }) {}, { json: sent }, { price }],
    ['a list that is the whole body', list(Money), { json: [sent] }, [price]],
    ['a claim', class extends dto({ price: fromClaim(Money, { name: 'sub' }) }) {}, {}, { price }],
    [
      'JSON text in a query',
      class extends dto({ price: queryParam(Money) }) {},
      { path: `/?price=${written}` },
      { price },
    ],
    [
      'other text in a query, like a JSON string',
      class extends dto({ price: queryParam(Money) }) {},
      { path: '/?price=12.50' },
      { price },
    ],
    [
      'a list in a query',
      class extends dto({ all: queryParam(list(Money)) }) {},
      { path: `/?all=[${written}]` },
      { all: [price] },
    ],
    [
      'a header',
      class extends dto({ price: fromHeader(Money) }) {},
      { headers: { price: JSON.stringify(sent) } },
      { price },
    ],
    [
      'a nested name of a query',
      class extends dto({ all: fromQuery(Inner) }) {},
      { path: '/?price=12.50' },
      { all: { price } },
    ],
  ])('is read by its converter: %s', async (_where, Dto, request, value) => {
    const { dto: bound, errors } = await bind(Dto, request, { converters, user: { sub: sent } });
    expect([bound, errors]).toEqual([value, []]);
  });

  it('is refused by its name where there is no converter for it', () => {
    expect(() => bindRequest(Inner)).toThrow(/Inner\.price: Money has no declared properties and no static tryParse/);
    expect(() => bindRequest(Inner, { converters })).not.toThrow();
  });
});

describe("a converter takes precedence over the type's own reading and writing", () => {
  const email = z.email();

  it.each<[string, AnyType, JsonConverter, unknown, unknown]>([
    [
      'dateTime',
      dateTime,
      {
        type: dateTime,
        read: json => (typeof json === 'number' ? success(new Date(json)) : failure),
        write: (date: Date) => date.getTime(),
      },
      1_000,
      new Date(1_000),
    ],
    ['int', int, { type: int, read: json => success(Number(json)), write: String }, '7', 7],
    [
      'tryParse',
      Code,
      {
        type: Code,
        read: json => success(new Code(`<${String(json)}>`)),
        write: (code: Code) => code.text.slice(1, -1),
      },
      'x',
      new Code('<x>'),
    ],
    [
      'a dto',
      Point,
      {
        type: Point,
        read: json =>
          Array.isArray(json)
            ? success(Object.assign(new Point(), { x: json[0] as number, y: json[1] as number }))
            : failure,
        write: ({ x, y }: Point) => [x, y],
      },
      [1, 2],
      { x: 1, y: 2 },
    ],
    [
      'a schema',
      email,
      {
        type: email,
        read: json => success(`${String(json)}@example.org`),
        write: (text: string) => text.replace(/@.*/, ''),
      },
      'me',
      'me@example.org',
    ],
  ])('%s, when it is read and when it is written', async (_what, type, converter, json, value) => {
    class One extends dto({ v: type, all: list(type) }) {}
    const binding: BindingOptions = { converters: [converter], responses: { 200: One } };
    const body = JSON.stringify({ v: json, all: [json] });
    expect((await bind(One, { json: body }, binding)).dto).toEqual({ v: value, all: [value] });
    expect((await bind(One, { json: body })).dto).not.toEqual({ v: value, all: [value] });
    const app = express().post('/', bindRequest(One, binding), (req, res) => {
      res.json(req.dto);
    });
    expect((await ask(app, { json: body })).text).toBe(body);
  });

  it('and leaves text to the type, or to its value parser', async () => {
    class One extends dto({ v: Code }) {}
    const binding = { converters: [{ type: Code, read: () => failure, write: String }] };
    expect((await bind(One, { path: '/?v=x' }, binding)).dto).toEqual({ v: new Code('x') });
    expect(
      (
        await bind(
          One,
          { path: '/?v=x' },
          { ...binding, valueParsers: [valueParserFor(Code, text => success(new Code(`${text}!`)))] },
        )
      ).dto,
    ).toEqual({ v: new Code('x!') });
    expect((await bind(One, { json: { v: 'x' } }, binding)).status).toBe(400);
  });
});

describe('the input of a converter', () => {
  /** Takes everything for what it is. */
  class Raw {
    constructor(readonly json: unknown) {}
  }
  const raw = [{ type: Raw, read: (json: unknown) => success(new Raw(json)), write: ({ json }: Raw) => json }];

  it('is plain JSON, even if other properties need exact numbers', async () => {
    class Exact extends dto({ raw: Raw, id: long }) {}
    const { dto: bound } = await bind(
      Exact,
      { json: '{"id":9007199254740993,"raw":{"n":1.50,"list":[1e3,"1",null,true],"o":{"big":12345678901234567890}}}' },
      { converters: raw },
    );
    expect(bound).toEqual({
      id: 9007199254740993n,
      raw: new Raw({ n: 1.5, list: [1000, '1', null, true], o: { big: 12345678901234567000 } }),
    });
  });

  it.each<[string, AnyType, unknown]>([
    ['is null, where the value is required', Raw, { v: new Raw(null) }],
    ['is not null, where null is a missing value', optional(Raw), {}],
    ['is not null, where null is a value', nullable(Raw), { v: null }],
  ])('%s', async (_what, type, value) => {
    expect((await bind(class extends dto({ v: type }) {}, { json: { v: null } }, { converters: raw })).dto).toEqual(
      value,
    );
  });

  it('is bounded: JSON that is 100,000 arrays deep is refused', async () => {
    expect(
      (
        await bind(
          class extends dto({ v: Raw }) {},
          { json: `{"v":${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
          { converters: raw },
        )
      ).status,
    ).toBe(400);
  });
});

describe('a value that a converter refuses', () => {
  class Offer extends dto({ all: list(Money), price: optional(Money) }) {}

  it('is a failure with its path, and later failures are reported, too', async () => {
    expect((await bind(Offer, { json: { all: [sent, 'x', { amount: 1 }], price: 7 } }, { converters })).errors).toEqual(
      [
        { name: 'all[1]', in: 'json', pointer: '/all/1', detail: 'The value "x" is not a Money.' },
        { name: 'all[2]', in: 'json', pointer: '/all/2', detail: 'The value {…} is not a Money.' },
        { name: 'price', in: 'json', pointer: '/price', detail: 'The value 7 is not a Money.' },
      ],
    );
  });

  it('text is a failure, too, and several values where one is expected', async () => {
    const refused = async (query: string) =>
      (await bind(class extends dto({ price: queryParam(Money) }) {}, { path: `/?price=${query}` }, { converters }))
        .errors;
    expect(await refused('x')).toEqual([{ name: 'price', in: 'query', detail: 'The value "x" is not a Money.' }]);
    expect(await refused('{')).toEqual([{ name: 'price', in: 'query', detail: 'The value "{" is not a JSON text.' }]);
    expect(await refused('1.00&price=2.00')).toEqual([
      { name: 'price', in: 'query', detail: 'There are 2 values where one is expected.' },
    ]);
  });

  it("an error that it throws is the application's", async () => {
    const { status, response } = await bind(
      Offer,
      { json: { all: [1] } },
      {
        converters: [
          {
            ...money,
            read: () => {
              throw new Error('no rates');
            },
          },
        ],
      },
    );
    expect([status, response.text]).toEqual([500, 'no rates']);
  });
});

it('configure() has converters for all endpoints; those of an endpoint come first, and the others are still there', async () => {
  const tagged = (tag: string): JsonConverter<Code> => ({
    type: Code,
    read: json => success(new Code(`${String(json)}${tag}`)),
    write: ({ text }) => text,
  });
  const configured = configure({ binding: { converters: [tagged('!'), money] } });
  class Both extends dto({ code: Code, price: Money, note: field(string, { default: '' }) }) {}
  const app = express();
  app.post('/app', configured.bindRequest(Both), (req, res) => {
    res.json(req.dto);
  });
  app.post('/endpoint', configured.bindRequest(Both, { converters: [tagged('?'), tagged('-')] }), (req, res) => {
    res.json(req.dto);
  });
  const answers = await Promise.all(
    ['/app', '/endpoint'].map(path => ask(app, { path, json: { code: 'x', price: sent } })),
  );
  expect(answers.map(({ body }) => body as unknown)).toEqual(
    ['x!', 'x?'].map(code => ({ code, price: sent, note: '' })),
  );
});

it.each<[string, unknown]>([
  ['no array', money],
  ['no type', [{ read: money.read, write: money.write }]],
  ['no reader', [{ type: Money, write: money.write }]],
  ['no writer', [{ type: Money, read: money.read }]],
  ['nothing', [undefined]],
])('an invalid converter is refused when the middleware is made: %s', (_what, given) => {
  expect(() => bindRequest(Point, { converters: given as JsonConverter[] })).toThrow(
    'converters must be an array of { type, read, write }',
  );
});

describe('a converter for a dto class', () => {
  class City extends dto({ city: string }) {}
  const upper: JsonConverter<City> = {
    type: City,
    read(json) {
      const { city } = json as { city?: unknown };
      return typeof city === 'string' ? success(Object.assign(new City(), { city: city.toUpperCase() })) : failure;
    },
    write: ({ city }) => city,
  };
  const oslo = '{"city":"oslo"}';
  const inText = encodeURIComponent(oslo);

  it.each<[string, AnyType, Sent, unknown]>([
    ['a query', class extends dto({ m: City }) {}, { path: `/?m=${inText}` }, { m: { city: 'OSLO' } }],
    [
      'a list',
      class extends dto({ m: list(City) }) {},
      { path: `/?m=${inText},${inText}` },
      { m: [{ city: 'OSLO' }, { city: 'OSLO' }] },
    ],
  ])('reads its JSON in one text value, too: %s', async (_where, Dto, request, value) => {
    expect((await bind(Dto, request, { converters: [upper], user: { m: oslo } })).dto).toEqual(value);
  });

  describe('that is the dto of a request, whose properties are read one by one,', () => {
    const options: BindingOptions = { converters: [upper] };
    const message =
      'City: its converter reads one JSON value, but the properties of a request are read one by one. Bind it as the ' +
      'whole body, dto({ body: fromBody(City) }), or bind a class without a converter: class Sent extends City {}.';

    it.each<[string, () => unknown]>([
      ['bindRequest', () => bindRequest(City, options)],
      ['configure', () => configure({ binding: options }).bindRequest(City)],
      [
        'bindRequest with a serializerContext',
        () =>
          bindRequest(City, {
            serializerContext: serializerContext({ request: City, responses: { 200: City }, ...options }),
          }),
      ],
      [
        'bindRequest with a binder of its own that extends the built-in one',
        () => bindRequest(City, { ...options, binder: new (class extends RequestBinder<City> {})() }),
      ],
    ])('is refused: %s', (_by, make) => {
      expect(make).toThrow(`bindRequest: ${message}`);
    });

    it.each<[string, AnyType, Sent, unknown, string]>([
      ['fromBody', dto({ body: fromBody(City) }), { json: oslo }, { body: { city: 'OSLO' } }, '{"body":"OSLO"}'],
      ['a list', list(City), { json: `[${oslo}]` }, [{ city: 'OSLO' }], '["OSLO"]'],
      ['a derived class', class Derived extends City {}, { json: oslo }, { city: 'oslo' }, oslo],
      [
        'a class without JSON',
        class ByPath extends dto({ city: queryParam(City) }) {},
        { path: `/?city=${inText}` },
        { city: { city: 'OSLO' } },
        '{"city":"OSLO"}',
      ],
    ])('reads and writes where that is possible: %s', async (_where, Dto, request, value, text) => {
      expect((await bind(Dto, request, options)).dto).toEqual(value);
      const app = express().post('/', bindRequest(Dto, { ...options, responses: { 200: Dto } }), (req, res) => {
        res.json(req.dto);
      });
      expect((await ask(app, request)).text).toBe(text);
    });

    it('only writes the class where no property comes from JSON, or an own binder makes it', async () => {
      class Place extends dto({ city: routeParam(string) }) {}
      const place: JsonConverter<Place> = { type: Place, read: () => failure, write: ({ city }) => city };
      const made = { bind: () => Object.assign(new City(), { city: 'oslo' }) };
      const app = express()
        .post('/places/:city', bindRequest(Place, { converters: [place] }), (req, res) => {
          res.json(req.dto);
        })
        .post('/own', bindRequest(City, { ...options, binder: made }), (req, res) => {
          res.json(req.dto);
        });
      expect((await ask(app, { path: '/places/oslo' })).text).toBe('"oslo"');
      expect((await ask(app, { path: '/own' })).text).toBe('"oslo"');
    });
  });
});
