import BigNumber from 'bignumber.js';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import {
  bindRequest,
  bool,
  dateTime,
  decimal,
  double,
  dto,
  enumOf,
  field,
  guid,
  int,
  list,
  long,
  nullable,
  optional,
  queryParam,
  serializerContext,
  string,
  timeSpan,
  uri,
  Version,
  version,
  type AnyType,
  type BindingOptions,
  type JsonConverter,
  type ParseResult,
  type ResponseTypes,
  type SerializerOptions,
} from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { serve } from '../../support/serve';
import { expressVersions } from '../../support/express-versions';
import { ask } from '../../support/ask';

class Nothing extends dto({ page: queryParam(int, { default: 1 }) }) {}
class Line extends dto({ sku: string, unitPrice: field(decimal, { jsonPropertyName: 'price' }) }) {}
class Order extends dto({ orderId: long, lines: list(Line), placedAt: optional(dateTime), note: nullable(string) }) {}
class Refusal extends dto({ because: string }) {}

interface Answering extends BindingOptions {
  readonly framework?: () => Express;
  /** Settings of the application, for example `json spaces`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly before?: readonly RequestHandler[];
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** What goes over the wire when a handler behind `bindRequest` answers. */
async function answered(
  answer: (res: Response, req: Request) => unknown,
  responses: ResponseTypes,
  {
    framework = express,
    settings = {},
    before = [],
    method = 'POST',
    headers = {},
    path = '/',
    ...options
  }: Answering = {},
): Promise<WireResponse> {
  const app = framework();
  for (const [name, value] of Object.entries(settings)) app.set(name, value);
  app.all('/', ...before, bindRequest(Nothing, { ...options, responses }), (req: Request, res: Response) => {
    answer(res, req);
  });
  app.use((error: Error, _req: Request, res: Response, next: () => void) => {
    if (res.headersSent) next();
    else res.status(500).json({ error: error.message, secret: 'x' });
  });
  return send((await serve(app)).url + path, { method, headers });
}

const lines = [
  { sku: 'tea', unitPrice: new BigNumber('4.50'), cost: 1 },
  { sku: 'pot', unitPrice: new BigNumber('0.1000000000000000055'), cost: 2 },
];
const order = { orderId: 9007199254740993n, lines, placedAt: new Date(0), note: null, margin: 7 };
const ORDER =
  '{"orderId":9007199254740993,"lines":[{"sku":"tea","price":4.5},{"sku":"pot","price":0.1000000000000000055}],"placedAt":"1970-01-01T00:00:00.000Z","note":null}';

describe.each(expressVersions)('%s', (_name, framework) => {
  it('writes the declared properties, under their JSON names, at every level, and no others', async () => {
    const { status, text, headers } = await answered(res => res.json(order), { 200: Order }, { framework });
    expect([status, text, headers['content-type'], headers['content-length'], headers.etag === undefined]).toEqual([
      200,
      ORDER,
      'application/json; charset=utf-8',
      String(Buffer.byteLength(ORDER)),
      false,
    ]);
  });

  it.each<[string, unknown]>([
    ['text', 'x'],
    ['a number', 7],
    ['a boolean', false],
    ['an array', [{ because: 'x', secret: 1 }]],
  ])('does not show a value that is declared as an object but is not one: %s', async (_what, value) => {
    const { status, text } = await answered(res => res.json(value), { 200: Refusal }, { framework });
    expect([status, text]).toEqual([
      500,
      expect.stringContaining('The response is declared as Refusal, but the handler passed'),
    ]);
  });
});

/** What is written of a value whose type is declared; by the functions that `res.json()` calls. */
const written = (type: AnyType, value: unknown, options: SerializerOptions = {}): string =>
  serializerContext({ responses: { 200: type }, ...options }).write(200, value);

describe('each type is written as it is read', () => {
  enum Level {
    Low = 1,
    High = 2,
  }

  it.each<[string, AnyType, unknown, string]>([
    ['long', long, 9007199254740993n, '9007199254740993'],
    ['long, the smallest', long, -9223372036854775808n, '-9223372036854775808'],
    ['long that is a number', long, 7, '7'],
    ['long that is a number beyond those that a double counts', long, 2 ** 60, '1152921504606846976'],
    ['long that is the smallest number', long, -(2 ** 63), '-9223372036854775808'],
    ['long that is a number of more bits', long, 2 ** 63, '9223372036854775808'],
    ['long that is text, as drivers of databases return it', long, '9007199254740993', '9007199254740993'],
    ['long that is text of no number', long, '1.50', '"1.50"'],
    [
      'decimal that is text, as drivers of databases return it',
      decimal,
      '0.1000000000000000055',
      '0.1000000000000000055',
    ],
    ['decimal that is text with zeros', decimal, '1.50', '1.5'],
    ['decimal that is text of no number', decimal, 'NaN', '"NaN"'],
    ['decimal of another class, whose JSON is text', decimal, { toJSON: () => '-12.50' }, '-12.5'],
    ['decimal', decimal, new BigNumber('0.1000000000000000055'), '0.1000000000000000055'],
    ['decimal, a large one', decimal, new BigNumber('1e21'), '1000000000000000000000'],
    ['decimal, a small one', decimal, new BigNumber('1e-7'), '0.0000001'],
    ['decimal that is a number', decimal, 4.5, '4.5'],
    ['decimal that is zero', decimal, new BigNumber('0.00'), '0'],
    ['int', int, -5, '-5'],
    ['double', double, 1.5e300, '1.5e+300'],
    ['double that is no number', double, Number.NaN, 'null'],
    ['bool', bool, false, 'false'],
    ['string', string, 'é"\n\u2028', '"é\\"\\n\u2028"'],
    ['empty string', string, '', '""'],
    ['dateTime', dateTime, new Date('2026-02-28T12:00:00.123Z'), '"2026-02-28T12:00:00.123Z"'],
    ['dateTime that is none', dateTime, new Date(Number.NaN), 'null'],
    ['timeSpan', timeSpan, 5_400_000, '"01:30:00"'],
    ['timeSpan of days', timeSpan, 90_061_001, '"1.01:01:01.001"'],
    ['timeSpan, negative', timeSpan, -1_500, '"-00:00:01.5"'],
    ['timeSpan of nothing', timeSpan, 0, '"00:00:00"'],
    ['guid', guid, '0f8fad5b-d9cb-469f-a165-70867728950e', '"0f8fad5b-d9cb-469f-a165-70867728950e"'],
    ['uri', uri, new URL('https://example.org/é'), '"https://example.org/%C3%A9"'],
    ['version', version, new Version(1, 2, 3), '"1.2.3"'],
    ['enum', enumOf(Level), Level.High, '2'],
    ['list of long', list(long), [1n, '9007199254740993'], '[1,9007199254740993]'],
    ['list of lists of timeSpan', list(list(timeSpan)), [[1_000], []], '[["00:00:01"],[]]'],
    ['list with nothing in it', list(decimal), [null, undefined, new BigNumber(1)], '[null,null,1]'],
    ['optional timeSpan', optional(timeSpan), 1_000, '"00:00:01"'],
    ['nullable timeSpan', nullable(timeSpan), null, 'null'],
    ['nullable long', nullable(long), 1n, '1'],
  ])('%s', (_what, type, value, text) => {
    class View extends dto({ v: type }) {}
    expect([written(View, { v: value }), written(type, value)]).toEqual([`{"v":${text}}`, text]);
  });
});

describe('where the values of an object are', () => {
  class Row extends dto({ id: long, line: optional(Line), because: optional(string) }) {}
  const inherited = (descriptor: PropertyDescriptor): object =>
    Object.create(Object.defineProperty({}, 'because', descriptor)) as object;
  const toJSON = (json: unknown, own: object = {}): object => ({ ...own, toJSON: () => json });
  const own = { id: 1n, because: 'private', line: { sku: 'private' } };

  it.each<[string, object, string]>([
    ['its own', { because: 'x', secret: 1 }, '{"because":"x"}'],
    ['inherited', Object.create({ because: 'x' }) as object, '{"because":"x"}'],
    ['read by a getter of its class', inherited({ get: () => 'x' }), '{"because":"x"}'],
    ['not methods of its class', inherited({ value: () => 'x' }), '{}'],
    [
      'those of its toJSON()',
      toJSON({ id: 9007199254740993n, because: 'x', secret: 1 }),
      '{"id":9007199254740993,"because":"x"}',
    ],
    ['no others than those of its toJSON()', toJSON({ id: 1n, reason: 'private' }, own), '{"id":1}'],
    [
      'null where toJSON() has null',
      toJSON({ id: 1n, line: null, because: null }, own),
      '{"id":1,"line":null,"because":null}',
    ],
    ['of one toJSON() only', toJSON({ toJSON: () => ({ because: 'asked twice' }) }), '{}'],
    [
      'below another object, too',
      { id: 1n, line: toJSON({ sku: 'tea', unitPrice: '4.50', cost: 1 }) },
      '{"id":1,"line":{"sku":"tea","price":4.5}}',
    ],
  ])('%s', (_what, value, text) => {
    expect([written(Row, value), written(list(Row), [value])]).toEqual([text, `[${text}]`]);
  });
});

describe('an object of another shape than declared is never shown', () => {
  class Price {
    static tryParse = (): ParseResult<Price> => ({ success: false });
  }
  const scalars = [string, bool, int, long, double, decimal, dateTime, timeSpan, guid, uri, version, Price];
  const all = [...scalars, enumOf(['a']), nullable(string), optional(int)] as readonly AnyType[];
  const AWAIT = 'but the handler passed a promise: await it first.';
  const promise = (): Promise<unknown> => Promise.resolve({ because: 'private' });

  it('instead of a scalar, even if it has a toJSON', () => {
    const values = [{ a: 'private' }, ['private'], new Map([['a', 'private']]), { toJSON: () => ({ a: 'private' }) }];
    for (const type of all)
      for (const v of values)
        expect(() => written(dto({ v: type }), { v })).toThrow('here, but the handler passed an object');
  });

  it.each<[string, AnyType, unknown, string]>([
    [
      'an array, for an object',
      Refusal,
      [{ because: 'private' }],
      'as Refusal, but the handler passed a value that is',
    ],
    ['text, for an object', Refusal, 'private', 'as Refusal, but the handler passed a value that is not an object'],
    ['an object, for a list', list(Refusal), { 0: { because: 'private' } }, 'as a list of Refusal, but the handler'],
    ['a Set, for a list', list(string), new Set(['private']), 'passed a value that is not an array'],
    ['an array, in a list of objects', list(Refusal), [[{ because: 'private' }]], 'that is not an object'],
    ['an object, in a list of text', list(string), [{ because: 'private' }], 'declares string here, but the handler'],
    ['an array, where an object may be missing', optional(Refusal), ['private'], 'that is not an object'],
    ['text of a toJSON()', Refusal, { because: 'a', toJSON: () => 'private' }, 'whose toJSON() returns no object'],
    ['null of a toJSON()', Refusal, { because: 'a', toJSON: () => null }, 'whose toJSON() returns no object'],
    ['a promise', Refusal, promise(), AWAIT],
    ['a promise, for a list', list(Refusal), promise(), AWAIT],
    ['a promise, in a list', list(Refusal), [promise()], AWAIT],
    ['a promise, in an object', dto({ because: Refusal }), { because: promise() }, AWAIT],
    ['what is like a promise, and has no property', Refusal, { then: () => undefined }, AWAIT],
  ])('%s', (_what, type, value, why) => {
    expect(() => written(type, value)).toThrow(why);
  });
});

describe('options of the endpoint', () => {
  class Money {
    constructor(readonly cents: number) {}
  }
  class Offer extends dto({
    basePrice: Money,
    allPrices: list(Money),
    oldPrice: nullable(Money),
    maybe: optional(Money),
  }) {}
  const money = (write: (value: Money) => unknown): JsonConverter<Money> => ({
    type: Money,
    read: () => ({ success: false }),
    write,
  });
  const converters = [money(({ cents }) => ({ eur: cents / 100 }))];
  const value = { basePrice: new Money(150), allPrices: [new Money(1)], oldPrice: null, maybe: undefined };

  it('converters write, but not null or undefined; the naming policy makes the names, jsonPropertyName wins', () => {
    const propertyNamingPolicy = 'snake_case';
    expect(written(Offer, value, { converters, propertyNamingPolicy })).toBe(
      '{"base_price":{"eur":1.5},"all_prices":[{"eur":0.01}],"old_price":null}',
    );
    expect(written(list(Money), [new Money(1)], { converters })).toBe('[{"eur":0.01}]');
    expect(written(Line, lines[0], { propertyNamingPolicy })).toBe('{"sku":"tea","price":4.5}');
  });
});

it('a status beside the value is an error, which says what to do', async () => {
  const { status, text } = await answered(
    res => (res.json as (...values: unknown[]) => unknown)(201, order),
    { 201: Order },
    { framework: expressVersions[1]?.[1] ?? express },
  );
  expect([status, text.includes('set the status first: res.status(201).json(value)')]).toEqual([500, true]);
});

describe('a dto for which no response is declared', () => {
  class Money {
    constructor(readonly cents: number) {}
  }
  const money: JsonConverter<Money> = {
    type: Money,
    read: json => (typeof json === 'number' ? { success: true, value: new Money(json * 100) } : { success: false }),
    write: ({ cents }) => cents / 100,
  };

  class Line extends dto({ lineNumber: int, sku: field(string, { jsonPropertyName: 'SKU' }) }) {}
  class Order extends dto({ orderId: long, allLines: list(Line), note: optional(string) }) {}
  class Decorated {
    @field(int) unitPrice = 5;
  }
  class Offer extends dto({ basePrice: Money }) {}
  class Paged extends dto({ page: queryParam(int, { default: 1 }) }) {}

  const line = Object.assign(new Line(), { lineNumber: 1, sku: 'tea' });
  const order = Object.assign(new Order(), { orderId: 9007199254740993n, allLines: [line], internal: 'not declared' });
  const snake: BindingOptions = { propertyNamingPolicy: 'snake_case' };

  /** The text of what a handler behind `bindRequest` passes to `res.json()`. */
  async function written(
    value: unknown,
    options: BindingOptions,
    framework: () => Express = express,
    answer: (res: Response, value: unknown) => unknown = (res, it) => res.json(it),
  ): Promise<string> {
    const app = framework()
      .set('env', 'test')
      .get('/', bindRequest(Paged, options), (_req: Request, res: Response) => {
        answer(res, value);
      });
    return (await ask(app, { method: 'GET', path: '/?callback=f' })).text;
  }

  describe.each(expressVersions)('%s', (_name, framework) => {
    it.each<[string, unknown, BindingOptions, string]>([
      ['a dto', order, snake, '{"order_id":9007199254740993,"all_lines":[{"line_number":1,"SKU":"tea"}]}'],
      ['an array of dtos and null', [line, null], snake, '[{"line_number":1,"SKU":"tea"},null]'],
      [
        'a derived class',
        Object.assign(new (class Long extends Line {})(), { lineNumber: 2, sku: 'x' }),
        snake,
        '{"line_number":2,"SKU":"x"}',
      ],
      [
        'a dto with a type that has a converter',
        Object.assign(new Offer(), { basePrice: new Money(150) }),
        { converters: [money] },
        '{"basePrice":1.5}',
      ],
      [
        'a dto with a property that is named as what tells its class',
        Object.assign(new (class Team extends dto({ constructor: list(string), lineNumber: int }) {})(), {
          constructor: ['x'],
          lineNumber: 2,
        }),
        snake,
        '{"constructor":["x"],"line_number":2}',
      ],
      [
        'by the policy of a serializer context',
        line,
        { serializerContext: serializerContext({ propertyNamingPolicy: 'kebab-case' }) },
        '{"line-number":1,"SKU":"tea"}',
      ],
      [
        'by a policy that makes camel case of other names',
        Object.assign(new (class View extends dto({ LineTotal: int }) {})(), { LineTotal: 1 }),
        { propertyNamingPolicy: 'camelCase' },
        '{"lineTotal":1}',
      ],
    ])('writes by its own declaration %s', async (_what, value, options, text) => {
      expect(await written(value, options, framework)).toBe(text);
    });

    it.each<[string, unknown]>([
      ['a plain object', { lineNumber: 1 }],
      ['an object that holds a dto', { line }],
      ['an empty array', []],
      ['an array of a dto and something else', [line, 1]],
      ['an array of dtos of several classes', [line, new Decorated()]],
      ['text', 'x'],
      ['null', null],
      [
        'a class with a toJSON of its own',
        new (class extends Decorated {
          toJSON(): unknown {
            return { mine: 1 };
          }
        })(),
      ],
      ['an object without a prototype', Object.assign(Object.create(null) as object, { lineNumber: 1 })],
      ['an object that says it is a dto', { constructor: Line, lineNumber: 1 }],
    ])('leaves to Express %s', async (_what, value) => {
      expect(await written(value, snake, framework)).toBe(JSON.stringify(value));
    });
  });
});
