import BigNumber from 'bignumber.js';
import express, { Router, type Express, type Request, type RequestHandler, type Response } from 'express';
import { Keyv } from 'keyv';
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
  idempotency,
  int,
  lazy,
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
import { ask, problemIn } from '../../support/ask';

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
/** The text of a response whose type is declared. */
const textOf = async (type: AnyType, value: unknown, options: Answering = {}): Promise<string> =>
  (await answered(res => res.json(value), { 200: type }, options)).text;
/** A response for which nothing is declared: Express's own. */
const plainly = (answer: (res: Response) => unknown, options: Answering = {}): Promise<WireResponse> =>
  answered(answer, {}, options);

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

  it('writes them into the script of res.jsonp(), too', async () => {
    const { text } = await answered(
      res => res.jsonp({ orderId: 1n, lines: [{ sku: '\u2028', unitPrice: 1, cost: 1 }], secret: 1 }),
      { 200: Order },
      { framework, path: '/?callback=show' },
    );
    expect(text).toBe(
      '/**/ typeof show === \'function\' && show({"orderId":1,"lines":[{"sku":"\\u2028","price":1}]});',
    );
  });

  it.each<[string, (res: Response) => unknown, number, string]>([
    ['res.json()', res => res.json({ orderId: 1n, lines: [], secret: 1 }), 200, '{"orderId":1,"lines":[]}'],
    [
      'res.status().json()',
      res => res.status(409).json({ because: 'sold out', secret: 1 }),
      409,
      '{"because":"sold out"}',
    ],
    ['res.jsonp()', res => res.jsonp({ orderId: 1n, lines: [], secret: 1 }), 200, '{"orderId":1,"lines":[]}'],
    [
      'res.send() of an object',
      res => res.send({ orderId: 1n, lines: [], secret: 1 }),
      200,
      '{"orderId":1,"lines":[]}',
    ],
    ['res.send() of an array', res => res.status(206).send([{ because: 'a', secret: 1 }]), 206, '[{"because":"a"}]'],
    ['res.send() of text', res => res.send('{"secret":1}'), 200, '{"secret":1}'],
    [
      'a status for which nothing is declared',
      res => res.status(404).json({ because: 'gone', secret: 1 }),
      404,
      '{"because":"gone","secret":1}',
    ],
    [
      'an error that a handler throws',
      () => {
        throw new Error('broken');
      },
      500,
      '{"error":"broken","secret":"x"}',
    ],
  ])('goes by the status: %s', async (_how, answer, status, text) => {
    const response = await answered(answer, { 200: Order, 206: list(Refusal), 409: Refusal }, { framework });
    expect([response.status, response.text]).toEqual([status, text]);
  });

  it.each<[string, unknown, unknown]>([
    ['undefined', undefined, undefined],
    ['null', null, null],
    ['nothing declared in it', { secret: 1 }, {}],
  ])('writes nothing as Express does: %s', async (_what, value, plain) => {
    const wire = ({ status, text, lines: head }: WireResponse) => ({ status, text, head });
    expect(wire(await answered(res => res.json(value), { 200: Refusal }, { framework }))).toEqual(
      wire(await plainly(res => res.json(plain), { framework })),
    );
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

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['spaces as a number', { 'json spaces': 2 }],
    ['spaces as text', { 'json spaces': '\t' }],
    ['more spaces than JSON.stringify makes', { 'json spaces': 12 }],
    ['no spaces', { 'json spaces': 0 }],
    ['escape', { 'json escape': true }],
    [
      'replacer',
      { 'json replacer': (key: string, value: unknown) => (key === 'because' ? `${String(value)}!` : value) },
    ],
  ])("keeps to the application's settings: json %s", async (_setting, settings) => {
    const value = { because: '<script>&', all: [], empty: {}, one: [{ because: 'x' }] };
    class View extends dto({ because: string, all: list(Refusal), empty: Nothing, one: list(Refusal) }) {}
    expect(await textOf(View, { ...value, secret: 1 }, { framework, settings })).toBe(
      (await plainly(res => res.json(value), { framework, settings })).text,
    );
  });

  it('keeps a content type that the handler has set', async () => {
    const { headers, text } = await answered(
      res => res.type('application/hal+json').json({ because: 'x', secret: 1 }),
      { 200: Refusal },
      { framework },
    );
    expect([headers['content-type'], text]).toEqual(['application/hal+json; charset=utf-8', '{"because":"x"}']);
  });

  it('a HEAD has the headers of the GET, and a cached response is not sent again', async () => {
    const get = await answered(res => res.json(order), { 200: Order }, { framework, method: 'GET' });
    const head = await answered(res => res.json(order), { 200: Order }, { framework, method: 'HEAD' });
    expect([head.lines, head.text]).toEqual([get.lines, '']);
    const cached = await answered(
      res => res.json(order),
      { 200: Order },
      { framework, method: 'GET', headers: { 'If-None-Match': get.headers.etag ?? '' } },
    );
    expect([cached.status, cached.text]).toEqual([304, '']);
  });

  it('a refused request is answered with its problem, even if its status has a declared type', async () => {
    const response = await answered(res => res.json(order), { 400: Refusal }, { framework, path: '/?page=x' });
    expect([response.status, problemIn(response)?.errors?.map(({ name }) => name)]).toEqual([400, ['page']]);
  });

  it('an endpoint that reads nothing declares its responses, too', async () => {
    const bound = bindRequest(dto({}), { responses: { 200: Refusal } }) as RequestHandler;
    const app = framework().post('/', bound, (_req, res) => void res.json({ because: 'x', secret: 1 }));
    expect((await ask(app)).body).toEqual({ because: 'x' });
  });

  it('behind idempotency() a replay is the same text, in one run', async () => {
    let runs = 0;
    const app = framework().post(
      '/',
      idempotency({ store: new Keyv() }),
      bindRequest(Nothing, { responses: { 201: Order } }),
      (_req: Request, res: Response) => {
        res.status(201).json({ ...order, note: `run ${++runs}` });
      },
    );
    const texts = [await ask(app, { key: 'k' }), await ask(app, { key: 'k' })].map(({ status, text, headers }) => [
      status,
      text,
      headers['content-type'],
      headers['content-length'],
      headers['idempotent-replayed'],
    ]);
    const first = [201, ORDER.replace('null', '"run 1"'), 'application/json; charset=utf-8', String(ORDER.length + 3)];
    expect(texts).toEqual([
      [...first, undefined],
      [...first, 'true'],
    ]);
  });

  it('a later bindRequest of the same request replaces the types of an earlier one, for its own statuses only', async () => {
    class Note extends dto({ note: string }) {}
    const app = framework().get(
      '/:status',
      bindRequest(Nothing, { responses: { 200: Refusal, 409: Refusal } }),
      bindRequest(Nothing, { responses: { 200: Note } }),
      (req: Request, res: Response) => {
        res.status(Number(req.params['status'])).json({ because: 'x', note: 'n', secret: 1 });
      },
    );
    const texts = await Promise.all(['/200', '/409'].map(async path => (await ask(app, { method: 'GET', path })).text));
    expect(texts).toEqual(['{"note":"n"}', '{"because":"x"}']);
  });
});

describe.each(expressVersions)('where the types of an endpoint count, %s', (_name, framework) => {
  const binds = bindRequest(Nothing, { responses: { 200: Refusal } });
  const answer = (_req: Request, res: Response): void => {
    res.json({ because: 'x', more: 1 });
  };
  const textAt = async (app: Express, path = '/'): Promise<string> => (await ask(app, { method: 'GET', path })).text;

  it.each<[string, (app: Express) => Express]>([
    ['get', app => app.get('/', binds).get('/', answer)],
    ['all', app => app.all('/', binds).get('/', answer)],
    ['get, with idempotency() behind it', app => app.get('/', binds, idempotency()).get('/', answer)],
  ])('in the next route, if no handler of its own is behind it: %s', async (_mount, mount) => {
    const app = mount(framework());
    expect((await ask(app, { method: 'GET', key: 'k' })).text).toBe('{"because":"x"}');
    // A response to HEAD tells the length of what GET gets.
    expect((await ask(app, { method: 'HEAD', key: 'head' })).headers['content-length']).toBe('15');
  });

  it('in all that comes after it, where app.use has mounted it behind a route that calls next()', async () => {
    const app = framework().all('/shop/orders', (_req, _res, next) => {
      next();
    });
    expect(await textAt(app.use('/shop', binds).get('/shop/orders', answer), '/shop/orders')).toBe('{"because":"x"}');
  });

  it('for a status that is text', async () => {
    const asText: RequestHandler = (req, res) => {
      Object.assign(res, { statusCode: '200' });
      answer(req, res);
    };
    expect(await textAt(framework().get('/', binds, asText))).toBe('{"because":"x"}');
  });

  it('in all that comes after it, where app.use has mounted it', async () => {
    expect(await textAt(framework().use('/shop', binds, answer), '/shop')).toBe('{"because":"x"}');
    expect(await textAt(framework().use('/shop', binds).get('/shop/orders', answer), '/shop/orders')).toBe(
      '{"because":"x"}',
    );
    expect(await textAt(framework().use('/shop', Router().use(binds).get('/orders', answer)), '/shop/orders')).toBe(
      '{"because":"x"}',
    );
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

  it('undefined properties are left out', () => {
    class View extends dto({ a: optional(long), b: optional(timeSpan), c: string }) {}
    expect(written(View, { b: undefined, c: 'x' })).toBe('{"c":"x"}');
  });

  it.each<[string, object, string | undefined]>([
    ['text', { toString: () => 'text' }, '"text"'],
    ['JSON', { toJSON: () => ({ a: 1 }) }, '{"a":1}'],
    ['a primitive value', { [Symbol.toPrimitive]: () => 'primitive' }, '"primitive"'],
    ['neither', { secret: 'x' }, undefined],
    ['a name of its class only', { [Symbol.toStringTag]: 'x' }, undefined],
  ])('an instance of a class with tryParse that has %s', (_what, own, text) => {
    class Price {
      static tryParse = () => ({ success: false }) as const;
    }
    const write = (): string => written(dto({ price: Price }), { price: Object.assign(new Price(), own) });
    if (text === undefined)
      expect(write).toThrow('has a Price, which has no form in JSON: add toString() or toJSON() to Price, or pass a');
    else expect(write()).toBe(`{"price":${text}}`);
  });

  it('a scalar of another type than declared is written as it is, an integer with its digits', () => {
    expect(written(Order, { orderId: 'x', placedAt: 5 })).toBe('{"orderId":"x","placedAt":5}');
    expect(written(dto({ count: double, note: string }), { count: 9007199254740993n, note: 5n })).toBe(
      '{"count":9007199254740993,"note":5}',
    );
  });

  it('a response goes on as deep as the value does, where a type refers to itself', () => {
    class Node {
      @field(long) id!: bigint;
      @field(list(lazy(() => Node))) children!: Node[];
    }
    const value = { id: 1n, secret: 1, children: [{ id: 9007199254740993n, secret: 2, children: [] }] };
    expect(written(Node, value)).toBe('{"id":1,"children":[{"id":9007199254740993,"children":[]}]}');
    expect(() => written(Node, Object.assign(value, { children: [value] }))).toThrow(RangeError);
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

  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'])(
    'a property named %s, under which every object has something, is one if it was given',
    name => {
      for (const [type, value] of [
        [string, 'x'],
        [list(string), ['x']],
        [Refusal, { because: 'x' }],
      ] as [AnyType, unknown][]) {
        class Team extends (dto({ driver: string, [name]: optional(type) }) as new () => object) {}
        const text = `{"driver":"a","${name}":${JSON.stringify(value)}}`;
        for (const made of [{}, new Team(), Object.create(null) as object]) {
          expect(written(Team, Object.assign(made, { driver: 'a' }))).toBe('{"driver":"a"}');
          expect(written(Team, Object.assign(made, { [name]: value }))).toBe(text);
        }
      }
    },
  );
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

  it('an object with a property and a method named then is no promise', () => {
    expect(written(Refusal, { because: 'x', then: () => undefined })).toBe('{"because":"x"}');
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

  it("an error that a converter throws is the application's", async () => {
    const throwing = money(() => {
      throw new Error('no rates');
    });
    const { status, text } = await answered(res => res.json(value), { 200: Offer }, { converters: [throwing] });
    expect([status, text]).toEqual([500, '{"error":"no rates","secret":"x"}']);
  });

  it('a serializer context brings its responses', async () => {
    const context = serializerContext({ responses: { 409: Refusal } });
    const { text } = await answered(
      res => res.status(409).json({ because: 'x', secret: 1 }),
      {},
      { serializerContext: context },
    );
    expect(text).toBe('{"because":"x"}');
  });
});

it('a bound value is written as it was sent', async () => {
  const app = express().post('/', bindRequest(Order, { responses: { 200: Order } }), (req, res) => {
    res.json(req.dto);
  });
  expect((await ask(app, { json: ORDER })).text).toBe(ORDER);
});

describe('a type that cannot be written is refused when the middleware is made', () => {
  class Undeclared {
    a = 1;
  }

  it.each<[string, unknown, string]>([
    [
      'a class without declarations',
      { 200: list(Undeclared) },
      'responses[200]: Undeclared has no declared properties',
    ],
    [
      'a property of it',
      { 201: class View extends dto({ in: Undeclared }) {} },
      'responses[201]: View.in: Undeclared has no declared properties',
    ],
    ['no type', { 200: 'text' }, 'responses[200]: The text "text"'],
    ['no status', { ok: Refusal }, 'responses must be an object of types by status'],
    ['a status that does not exist', { 99: Refusal }, 'responses must be an object of types by status'],
    ['no object', Refusal.name, 'responses must be an object of types by status'],
  ])('%s', (_what, responses, message) => {
    expect(() => bindRequest(Nothing, { responses: responses as ResponseTypes })).toThrow(TypeError);
    expect(() => bindRequest(Nothing, { responses: responses as ResponseTypes })).toThrow(message);
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
