import BigNumber from 'bignumber.js';
import express, { type Express, type Response } from 'express';
import { z } from 'zod';
import { bindRequest, bool, configure, dateTime, decimal, double, dto, enumOf, field } from '../../../lib';
import { generatedContexts, guid, int, list, long, nullable, optional, Problem, queryParam } from '../../../lib';
import { serializerContext, string, timeSpan, uri, Version, version } from '../../../lib';
import type { AnyType, BindingOptions, JsonConverter, ParseResult, SerializerOptions } from '../../../lib';
import { exactText, WrittenNumber } from '../../../lib/binding/types/write-value';
import { ask } from '../../support/ask';
import { errorAsText } from '../../support/error-as-text';
import { expressVersions } from '../../support/express-versions';

class Line extends dto({ skuCode: string, unitPrice: field(decimal, { jsonPropertyName: 'price' }) }) {}
class Order extends dto({ orderId: long, lines: list(Line), note: optional(string) }) {}
class View extends dto({
  orderId: long,
  lines: list(Line),
  placedAt: dateTime,
  within: timeSpan,
  note: nullable(string),
}) {}
class Refusal extends dto({ because: string }) {}
class Paged extends dto({ page: queryParam(int, { default: 1 }) }) {}
class Money {
  constructor(readonly cents: number) {}
}

const snake = { propertyNamingPolicy: 'snake_case' } as const;
const orders = serializerContext({ request: Order, responses: { 201: View, 409: Refusal }, ...snake });
const json = '{"order_id":9007199254740993,"lines":[{"sku_code":"a","price":0.1000000000000000055}]}';
const view = {
  orderId: 9007199254740993n,
  lines: [{ skuCode: 'tea', unitPrice: new BigNumber('0.1000000000000000055'), cost: 1 }],
  ...{ placedAt: new Date(0), within: 5_400_000, note: null, secret: 'x' },
};
const viewed = (order: string, sku: string, placed: string): string =>
  `{"${order}":9007199254740993,"lines":[{"${sku}":"tea","price":0.1000000000000000055}],` +
  `"${placed}":"1970-01-01T00:00:00.000Z","within":"01:30:00","note":null}`;
const VIEW = viewed('order_id', 'sku_code', 'placed_at');

/** What is written of a value whose type is declared, by the functions that `res.json()` calls. */
const written = (type: AnyType, value: unknown, options: SerializerOptions = {}): string =>
  serializerContext({ responses: { 200: type }, ...options }).write(200, value);

/** Status and text of what a handler behind `bindRequest` answers. */
async function answered(
  options: BindingOptions,
  answer: (res: Response) => unknown,
  framework: () => Express = express,
) {
  const app = framework().set('env', 'test');
  app.get('/', bindRequest(Paged, options), (_req: unknown, res: Response) => void answer(res));
  const { status, text, headers } = await ask(app.use(errorAsText), { method: 'GET' });
  return { status, text, headers };
}

describe('a context reads', () => {
  it('instances of the class, exactly, and the declared properties only', async () => {
    const order = await orders.read(json.replace('{', '{"is_admin":true,"orderId":2,'));
    expect([order.constructor, order.lines[0]?.constructor, Object.keys(order)]).toEqual([
      Order,
      Line,
      ['orderId', 'lines'],
    ]);
    const lines = order.lines.map(line => [line.skuCode, line.unitPrice.toFixed()]);
    expect([order.orderId, lines]).toEqual([9007199254740993n, [['a', '0.1000000000000000055']]]);
  });

  it('nothing that is wrong, and refuses with all of it', async () => {
    const refusal = await orders.read('{"lines":[{"sku_code":1},5]}').catch((error: unknown) => error as Problem);
    expect(refusal).toBeInstanceOf(Problem);
    expect(refusal).toMatchObject({
      ...{ code: 'validation-failed', status: 400 },
      errors: [
        { name: 'order_id', in: 'json', pointer: '/order_id', detail: 'A value is required.' },
        { name: 'lines[0].sku_code', in: 'json', pointer: '/lines/0/sku_code', detail: 'The value 1 is not a string.' },
        { name: 'lines[0].price', in: 'json', pointer: '/lines/0/price', detail: 'A value is required.' },
        { name: 'lines[1]', in: 'json', pointer: '/lines/1', detail: 'The value 5 is not a JSON object.' },
      ],
    });
  });

  it.each<[string, AnyType, string, unknown]>([
    ['a list', list(int), '[1,2]', [1, 2]],
    ['a scalar', long, '9007199254740993', 9007199254740993n],
    ['a schema', z.object({ n: z.number() }), '{"n":1.50}', { n: 1.5 }],
    ['an asynchronous schema', z.string().refine(async text => (await Promise.resolve(text)) !== 'no'), '"yes"', 'yes'],
  ])('%s', async (_what, request, text, value) => {
    expect(await serializerContext({ request }).read(text)).toEqual(value);
  });
});

it('a context writes the declared properties under their JSON names, exactly, and cannot do what it has no types for', async () => {
  expect(orders.write(201, view)).toBe(VIEW);
  expect(orders.write(409, { because: 'é"', more: 1 })).toBe('{"because":"é\\""}');
  const empty = serializerContext({});
  await expect(empty.read('{}')).rejects.toThrow('it was made without a request type; pass { request: PlaceOrder');
  expect(() => empty.write(200, {})).toThrow('it was made without a response type for 200; pass { responses: { 200:');
  expect(() => orders.write(200, {})).toThrow('it was made without a response type for 200');
});

it('an endpoint reads and writes as its context says, or as that of its dto, which configure() has', async () => {
  class Place extends dto({ itemCount: int }) {}
  const registered = generatedContexts([
    serializerContext({ request: Refusal }),
    serializerContext({ request: Place, responses: { 200: Place } }),
  ])(snake);
  const app = express().post('/named', bindRequest(Order, { serializerContext: orders }), (req, res) => {
    if (req.dto.note === undefined) res.status(201).json(view);
    else res.status(409).json({ because: req.dto.note, secret: 'x' });
  });
  app.post('/own', configure({ binding: registered }).bindRequest(Place), (req, res) => {
    res.json({ ...req.dto, passwordHash: 'secret' });
  });
  const answer = async (path: string, body: string): Promise<string> => {
    const { status, text } = await ask(app, { path, json: body });
    return `${status} ${text}`;
  };
  expect(await answer('/named', json)).toBe(`201 ${VIEW}`);
  expect(await answer('/named', json.replace('{', '{"note":"sold out",'))).toBe('409 {"because":"sold out"}');
  expect(await answer('/named', json.replace('order_id', 'orderId'))).toMatch(/^400 .*"name":"order_id"/);
  expect(await answer('/own', '{"item_count":1}')).toBe('200 {"item_count":1}');
  // Those of several projects are registered one after the other.
  const { contexts, propertyNamingPolicy } = generatedContexts([orders])(registered);
  expect([contexts?.length, propertyNamingPolicy, registered.contexts?.length]).toEqual([3, 'snake_case', 2]);
});

describe.each(expressVersions)('a declared response on %s', (_name, framework) => {
  it('has the declared properties, under their JSON names, at every level, and no others', async () => {
    const { status, text, headers } = await answered({ responses: { 200: View } }, res => res.json(view), framework);
    expect([status, text]).toEqual([200, viewed('orderId', 'skuCode', 'placedAt')]);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
      etag: expect.anything() as string,
    });
  });

  it.each(['x', 7, false, [{ because: 'x', secret: 1 }], Promise.resolve({ because: 'x' })])(
    'shows no %p instead of an object',
    async value => {
      const { status, text } = await answered({ responses: { 200: Refusal } }, res => res.json(value), framework);
      const why = 'The response is declared as Refusal, but the handler passed';
      expect([status, text]).toEqual([500, expect.stringContaining(value instanceof Promise ? 'await it first' : why)]);
    },
  );
});

it('a status beside the value is an error, which says what to do', async () => {
  const answer = (res: Response): unknown => (res.json as (...values: unknown[]) => unknown)(201, view);
  const { status, text } = await answered({ responses: { 201: View } }, answer, expressVersions[1]?.[1]);
  expect([status, text.includes('set the status first: res.status(201).json(value)')]).toEqual([500, true]);
});

it('res.jsonp(), which would write every property, is an error', async () => {
  const { status, text } = await answered({ responses: { 201: View } }, res => res.status(201).jsonp(view));
  expect([status, text.includes('res.jsonp() knows nothing of the declared responses')]).toEqual([500, true]);
});

it.each([
  ['a dto, whose names it does not know, is an error', new Line(), 500, 'res.jsonp() knows nothing of the declared'],
  ['any other value is written by Express', { skuCode: 'tea' }, 200, '{"skuCode":"tea"}'],
])('res.jsonp() behind a naming policy, without declared responses: %s', async (_what, value, status, text) => {
  expect(await answered(snake, res => res.jsonp(value))).toMatchObject({ status, text: expect.stringContaining(text) });
});

describe('each type is written as JSON has it', () => {
  enum Level {
    Low = 1,
    High = 2,
  }
  const big = (text: string): BigNumber => new BigNumber(text);

  it.each<[string, AnyType, unknown, string]>([
    ['long', long, -9223372036854775808n, '-9223372036854775808'],
    ['long that is a number beyond those that a double counts', long, 2 ** 60, '1152921504606846976'],
    ['long that is the smallest number', long, -(2 ** 63), '-9223372036854775808'],
    ['long that is a number of more bits', long, 2 ** 63, '9223372036854775808'],
    ['long that is text, as drivers of databases return it', long, '9007199254740993', '9007199254740993'],
    ['long that is text of no number', long, '1.50', '"1.50"'],
    ['decimal that is text, as drivers return it', decimal, '0.1000000000000000055', '0.1000000000000000055'],
    ['decimal that is text with zeros', decimal, '1.50', '1.5'],
    ['decimal that is text of no number', decimal, 'NaN', '"NaN"'],
    ['decimal of another class, whose JSON is text', decimal, { toJSON: () => '-12.50' }, '-12.5'],
    ['decimal, a large one', decimal, big('1e21'), '1000000000000000000000'],
    ['decimal, a small one', decimal, big('1e-7'), '0.0000001'],
    ['decimal that is a number', decimal, 4.5, '4.5'],
    ['double', double, 1.5e300, '1.5e+300'],
    ['double that is no number', double, Number.NaN, 'null'],
    ['string', string, 'é"\n\u2028', '"é\\"\\n\u2028"'],
    ['dateTime', dateTime, new Date('2026-02-28T12:00:00.123Z'), '"2026-02-28T12:00:00.123Z"'],
    ['dateTime that is none', dateTime, new Date(Number.NaN), 'null'],
    ['timeSpan of days', timeSpan, 90_061_001, '"1.01:01:01.001"'],
    ['timeSpan, negative', timeSpan, -1_500, '"-00:00:01.5"'],
    ['timeSpan of nothing', timeSpan, 0, '"00:00:00"'],
    ['uri', uri, new URL('https://example.org/é'), '"https://example.org/%C3%A9"'],
    ['version', version, new Version(1, 2, 3), '"1.2.3"'],
    ['enum', enumOf(Level), Level.High, '2'],
    ['list of lists of timeSpan', list(list(timeSpan)), [[1_000], []], '[["00:00:01"],[]]'],
    ['list with nothing in it', list(decimal), [null, undefined, big('1')], '[null,null,1]'],
    ['optional long', optional(nullable(long)), 1n, '1'],
    ['a schema, as it is', z.any(), { then: 'x', at: new Date(0) }, '{"then":"x","at":"1970-01-01T00:00:00.000Z"}'],
    ['a schema, by its toJSON', z.any(), { then: () => 1, toJSON: () => 'x' }, '"x"'],
  ])('%s', (_what, type, value, text) => {
    expect([written(dto({ v: type }), { v: value }), written(type, value)]).toEqual([`{"v":${text}}`, text]);
  });
});

describe('where the values of an object are', () => {
  class Row extends dto({ id: long, line: optional(Line), because: optional(string) }) {}
  const inherited = (descriptor: PropertyDescriptor): object =>
    Object.create(Object.defineProperty({}, 'because', descriptor)) as object;
  const toJSON = (value: unknown, own: object = {}): object => ({ ...own, toJSON: () => value });
  const own = { id: 1n, because: 'private', line: { skuCode: 'private' } };
  const below = { id: 1n, line: toJSON({ skuCode: 'tea', unitPrice: '4.50', cost: 1 }) };
  const empty = { id: 1n, line: null, because: null };

  it.each<[string, object, string]>([
    ['its own', { because: 'x', secret: 1 }, '{"because":"x"}'],
    ['read by a getter of its class', inherited({ get: () => 'x' }), '{"because":"x"}'],
    ['not methods of its class', inherited({ value: () => 'x' }), '{}'],
    ['those of its toJSON()', toJSON({ id: 9007199254740993n, secret: 1 }), '{"id":9007199254740993}'],
    ['no others than those of its toJSON()', toJSON({ id: 1n, reason: 'private' }, own), '{"id":1}'],
    ['null where toJSON() has null', toJSON(empty, own), '{"id":1,"line":null,"because":null}'],
    ['of one toJSON() only', toJSON({ toJSON: () => ({ because: 'asked twice' }) }), '{}'],
    ['below another object, too', below, '{"id":1,"line":{"skuCode":"tea","price":4.5}}'],
  ])('%s', (_what, value, text) => {
    expect([written(Row, value), written(list(Row), [value])]).toEqual([text, `[${text}]`]);
  });
});

describe('an object of another shape than declared is never shown:', () => {
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
    ['an array, for an object', Refusal, [{ because: 'a' }], 'as Refusal, but the handler passed a value that is'],
    ['text, for an object', Refusal, 'a', 'as Refusal, but the handler passed a value that is not an object'],
    ['an object, for a list', list(Refusal), { 0: { because: 'a' } }, 'as a list of Refusal, but the handler'],
    ['a Set, for a list', list(string), new Set(['a']), 'passed a value that is not an array'],
    ['an array, in a list of objects', list(Refusal), [[{ because: 'a' }]], 'that is not an object'],
    ['an object, in a list of text', list(string), [{ because: 'a' }], 'declares string here, but the handler'],
    ['an array, where an object may be missing', optional(Refusal), ['a'], 'that is not an object'],
    ['text of a toJSON()', Refusal, { because: 'a', toJSON: () => 'b' }, 'a value that is not an object'],
    ['null of a toJSON()', Refusal, { because: 'a', toJSON: () => null }, 'a value that is not an object'],
    ['a promise', Refusal, promise(), AWAIT],
    ['a promise, for a list', list(Refusal), promise(), AWAIT],
    ['a promise, in a list', list(Refusal), [promise()], AWAIT],
    ['a promise, in an object', dto({ because: Refusal }), { because: promise() }, AWAIT],
    ['what is like a promise, and has no property', Refusal, { then: () => undefined }, AWAIT],
  ])('%s', (_what, type, value, why) => {
    expect(() => written(type, value)).toThrow(why);
  });
});

const converters: JsonConverter[] = [
  { type: Money, read: () => ({ success: false }), write: value => ({ eur: (value as Money).cents / 100 }) },
];

it('converters write, but not null or undefined; the naming policy makes the names, jsonPropertyName wins', () => {
  class Offer extends dto({
    basePrice: Money,
    allPrices: list(Money),
    oldPrice: nullable(Money),
    maybe: optional(Money),
  }) {}
  const value = { basePrice: new Money(150), allPrices: [new Money(1)], oldPrice: null, maybe: undefined };
  expect(written(Offer, value, { converters, ...snake })).toBe(
    '{"base_price":{"eur":1.5},"all_prices":[{"eur":0.01}],"old_price":null}',
  );
  expect(written(list(Money), [new Money(1)], { converters })).toBe('[{"eur":0.01}]');
});

describe('a dto for which no response is declared', () => {
  class Row extends dto({ lineNumber: int, sku: field(string, { jsonPropertyName: 'SKU' }) }) {}
  class Long extends Row {}
  class All extends dto({ orderId: long, allLines: list(Row), note: optional(string) }) {}
  class Offer extends dto({ basePrice: Money }) {}
  class Team extends dto({ constructor: list(string), lineNumber: int }) {}
  class Upper extends dto({ LineTotal: int }) {}
  class Decorated {
    @field(int) unitPrice = 5;
  }
  class Own extends Decorated {
    toJSON(): unknown {
      return { mine: 1 };
    }
  }
  const of = <T extends object>(Dto: new () => T, values: object): T => Object.assign(new Dto(), values);
  const row = of(Row, { lineNumber: 1, sku: 'tea' });
  const ROW = '{"line_number":1,"SKU":"tea"}';
  const kebab = serializerContext({ propertyNamingPolicy: 'kebab-case' });
  const all = of(All, { orderId: 9007199254740993n, allLines: [row], internal: 'not declared' });

  it.each<[string, unknown, BindingOptions, string]>([
    ['a dto', all, snake, `{"order_id":9007199254740993,"all_lines":[${ROW}]}`],
    ['an array of dtos and null', [row, null], snake, `[${ROW},null]`],
    ['a derived class', of(Long, { lineNumber: 1, sku: 'tea' }), snake, ROW],
    [
      'a type that has a converter',
      of(Offer, { basePrice: new Money(150) }),
      { converters },
      '{"basePrice":{"eur":1.5}}',
    ],
    ['a property called constructor', of(Team, { constructor: ['x'] }), snake, '{"constructor":["x"]}'],
    ['by the policy of a serializer context', row, { serializerContext: kebab }, '{"line-number":1,"SKU":"tea"}'],
    ['in camel case', of(Upper, { LineTotal: 1 }), { propertyNamingPolicy: 'camelCase' }, '{"lineTotal":1}'],
  ])('is written by its own declaration: %s', async (_what, value, options, text) => {
    for (const [, framework] of expressVersions)
      expect((await answered(options, res => res.json(value), framework)).text).toBe(text);
  });

  it.each<[string, unknown]>([
    ['a plain object', { lineNumber: 1 }],
    ['an object that holds a dto', { row }],
    ['an empty array', []],
    ['an array of a dto and something else', [row, 1]],
    ['an array of dtos of several classes', [row, new Decorated()]],
    ['text', 'x'],
    ['null', null],
    ['a class with a toJSON of its own', new Own()],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { lineNumber: 1 })],
    ['an object that says it is a dto', { constructor: Row, lineNumber: 1 }],
  ])('is left to Express if it is %s', async (_what, value) => {
    for (const [, framework] of expressVersions)
      expect((await answered(snake, res => res.json(value), framework)).text).toBe(JSON.stringify(value));
  });
});

describe('numbers are written with their digits', () => {
  const value = { a: new WrittenNumber('9007199254740993'), b: [new WrittenNumber('-0.10')], c: '1' };
  const short = (_key: string, one: unknown): unknown => (typeof one === 'string' ? one.slice(0, 3) : one);
  const large = (key: string, one: unknown): unknown => (key === 'c' ? 2n ** 64n : one);

  it.each<[string, Parameters<typeof exactText>, string | undefined]>([
    ['and nothing else is changed', [value], '{"a":9007199254740993,"b":[-0.10],"c":"1"}'],
    ['between spaces', [value, 1], '{\n "a": 9007199254740993,\n "b": [\n  -0.10\n ],\n "c": "1"\n}'],
    ['and nothing is nothing', [undefined], undefined],
    ['behind a replacer that changes texts', [{ b: value.b, d: 'hello' }, undefined, short], '{"b":[-0.10],"d":"hel"}'],
    ['behind one that returns bigints', [{ c: '1' }, undefined, large], '{"c":18446744073709551616}'],
  ])('%s', (_what, given, text) => {
    expect(exactText(...given)).toBe(text);
  });
});
