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
  ])('%s', async (_what, type, value, text) => {
    class View extends dto({ v: type }) {}
    expect(await textOf(View, { v: value })).toBe(`{"v":${text}}`);
    expect(await textOf(type, value)).toBe(text);
  });

  it('undefined properties are left out', async () => {
    class View extends dto({ a: optional(long), b: optional(timeSpan), c: string }) {}
    expect(await textOf(View, { b: undefined, c: 'x' })).toBe('{"c":"x"}');
  });

  it('a class with tryParse is its text, unless it says how it is written', async () => {
    const parsed = { tryParse: () => ({ success: false }) as const };
    class Text {
      toString(): string {
        return 'text';
      }
      static tryParse = parsed.tryParse;
    }
    class Json {
      toJSON(): unknown {
        return { a: 1 };
      }
      static tryParse = parsed.tryParse;
    }
    class Primitive {
      [Symbol.toPrimitive](): string {
        return 'primitive';
      }
      static tryParse = parsed.tryParse;
    }
    class View extends dto({ text: Text, json: Json, primitive: Primitive }) {}
    expect(await textOf(View, { text: new Text(), json: new Json(), primitive: new Primitive() })).toBe(
      '{"text":"text","json":{"a":1},"primitive":"primitive"}',
    );
  });

  it.each<[string, () => object]>([
    [
      'an object',
      () =>
        new (class Price {
          secret = 'x';
          static tryParse = () => ({ success: false }) as const;
        })(),
    ],
    [
      'a Set',
      () =>
        new (class Price extends Set {
          static tryParse = () => ({ success: false }) as const;
        })(),
    ],
    [
      'an object that names its class',
      () =>
        new (class Price {
          [Symbol.toStringTag] = 'x';
          static tryParse = () => ({ success: false }) as const;
        })(),
    ],
  ])('a class with tryParse that has neither a text nor a JSON is not shown: %s', async (_what, make) => {
    const value = make();
    class View extends dto({ price: value.constructor as AnyType }) {}
    const { status, text } = await answered(res => res.json({ price: value }), { 200: View });
    expect([status, text]).toEqual([
      500,
      expect.stringContaining('has a Price, which has no form in JSON: add toString() or toJSON() to Price, or pass a'),
    ]);
  });

  it.each<[string, AnyType, (value: unknown) => unknown]>([
    ['an object', Refusal, value => value],
    ['an object with exact numbers', Order, value => value],
    ['a list', list(Refusal), value => value],
    ['an item of a list', list(Refusal), value => [value]],
    ['a property', dto({ because: Refusal }), value => ({ because: value })],
    ['a property beside exact numbers', dto({ id: long, because: Refusal }), value => ({ id: 1n, because: value })],
  ])('a promise is not written as an object without properties: %s', async (_what, type, around) => {
    const why = 'but the handler passed a promise: await it first.';
    expect(await textOf(type, around(Promise.resolve({ because: 'x' })))).toContain(why);
  });

  it('an object with a method named then is refused like a promise only if it has none of the properties', async () => {
    const then = (): undefined => undefined;
    expect(await textOf(Refusal, { then })).toContain('but the handler passed a promise: await it first.');
    expect(await textOf(Refusal, { because: 'x', then })).toBe('{"because":"x"}');
  });

  it.each<[string, object, string]>([
    [
      'text where a list is',
      { orderId: 1n, lines: 'none' },
      'The response is declared as a list of Line, but the handler passed a value that is not an array',
    ],
    [
      'an object where text is',
      { orderId: 1n, lines: [], note: { secret: 1 } },
      'The response declares string here, but the handler passed an object',
    ],
    [
      'an array where a date is',
      { placedAt: ['secret'] },
      'The response declares dateTime here, but the handler passed an object',
    ],
  ])('a value of another shape than declared is not shown: %s', async (_what, value, why) => {
    expect(await textOf(Order, value)).toContain(why);
  });

  it('a scalar of another type than declared is written as it is', async () => {
    expect(await textOf(Order, { orderId: 'x', placedAt: 5 })).toBe('{"orderId":"x","placedAt":5}');
  });

  it('an integer beyond those of a double keeps its digits, in a class that declares only doubles and text', async () => {
    class Counted extends dto({ count: double, note: string }) {}
    expect(await textOf(Counted, { count: 9007199254740993n, note: 5n })).toBe('{"count":9007199254740993,"note":5}');
  });
});

it('properties may be anywhere on the value: own, inherited, or read by a getter', async () => {
  class Base {
    get because(): string {
      return 'a getter';
    }
  }
  class Derived extends Base {
    secret = 1;
  }
  expect(await textOf(Refusal, new Derived())).toBe('{"because":"a getter"}');
  expect(await textOf(Refusal, Object.create({ because: 'inherited' }))).toBe('{"because":"inherited"}');
  expect(await textOf(Refusal, Object.assign(new Refusal(), { because: 'an instance' }))).toBe(
    '{"because":"an instance"}',
  );
});

describe('an object with a toJSON()', () => {
  class Row extends dto({ id: long, line: optional(Line), because: optional(string) }) {}
  /** Declares what its JSON holds, as the documents of a database do. */
  class Document {
    readonly #values: object;
    constructor(values: object) {
      this.#values = values;
    }
    toJSON(): object {
      return this.#values;
    }
  }

  it.each<[string, AnyType]>([
    ['where numbers are exact', Row],
    ['where JSON.stringify writes', Refusal],
  ])('is written as that gives it, by the declaration: %s', async (_where, type) => {
    const value = new Document({ id: 9007199254740993n, because: 'x', secret: 1 });
    const text = type === Row ? '{"id":9007199254740993,"because":"x"}' : '{"because":"x"}';
    expect(await textOf(type, value)).toBe(text);
    expect(await textOf(list(type), [value, value])).toBe(`[${text},${text}]`);
    expect(await textOf(type, value, { settings: { 'json spaces': 1 } })).toBe(
      JSON.stringify(JSON.parse(text), undefined, 1).replace('9007199254740992', '9007199254740993'),
    );
    expect(await textOf(type, value, { settings: { 'json replacer': (_key: string, own: unknown) => own } })).toBe(
      text,
    );
  });

  it('is so below another object, too', async () => {
    const line = new Document({ sku: 'tea', unitPrice: '4.50', cost: 1 });
    expect(await textOf(Row, { id: 1n, line })).toBe('{"id":1,"line":{"sku":"tea","price":4.5}}');
  });

  it('is asked once, also if the result has a toJSON() itself', async () => {
    const inner = { toJSON: () => ({ because: 'asked twice' }) };
    expect(await textOf(Refusal, { toJSON: () => inner })).toBe('{}');
  });

  it.each<[string, unknown]>([
    ['text', 'private'],
    ['an array', [{ because: 'private' }]],
    ['null', null],
  ])('is not shown if that is no object: %s', async (_what, json) => {
    for (const own of [{}, { because: 'private' }]) {
      const { status, text } = await answered(res => res.json({ ...own, toJSON: () => json }), { 200: Refusal });
      expect([status, JSON.parse(text)]).toMatchObject([
        500,
        {
          error:
            'The response is declared as Refusal, but the handler passed an object whose toJSON() returns no object.',
        },
      ]);
    }
  });

  it.each<[string, AnyType, string]>([
    ['where numbers are exact', Row, '{"id":1,"because":"•••• 1111"}'],
    ['where JSON.stringify writes', Refusal, '{"because":"•••• 1111"}'],
  ])('shows what that masks only as it does: %s', async (_where, type, text) => {
    class Card {
      constructor(
        readonly id: bigint,
        readonly because: string,
      ) {}
      toJSON(): object {
        return { ...this, because: `•••• ${this.because.slice(-4)}` };
      }
    }
    expect(await textOf(type, new Card(1n, '4111111111111111'))).toBe(text);
    expect(await textOf(list(type), [new Card(1n, '4111111111111111')])).toBe(`[${text}]`);
  });

  describe.each<[string, (own: object) => object]>([
    ['leaves out', own => ({ ...own, because: undefined, line: undefined })],
    ['does not have', () => ({ id: 1n })],
    ['has under another name', () => ({ id: 1n, reason: 'private', item: { sku: 'private' } })],
  ])('does not show what that %s', (_how, json) => {
    class Stored {
      readonly id = 1n;
      readonly because = 'private';
      readonly line = { sku: 'private' };
      toJSON(): object {
        return json(this);
      }
    }
    it.each<[string, object]>([
      ['an object of a class', new Stored()],
      ['a plain object', { ...new Stored(), toJSON: () => json({ id: 1n }) }],
      ['inherited values', Object.create(new Stored(), { id: { value: 1n, enumerable: true } }) as object],
    ])('%s', async (_what, value) => {
      expect(await textOf(Row, value)).toBe('{"id":1}');
      expect(await textOf(list(Row), [value])).toBe('[{"id":1}]');
      expect(await textOf(dto({ row: Row }), { row: value })).toBe('{"row":{"id":1}}');
      expect(await textOf(Refusal, value)).toBe('{}');
      expect(await textOf(list(Refusal), [value])).toBe('[{}]');
      expect(await textOf(dto({ refusal: Refusal }), { refusal: value })).toBe('{"refusal":{}}');
      expect(serializerContext({ responses: { 200: Row } }).write(200, value)).toBe('{"id":1}');
    });
  });

  it('shows null where that has null, also instead of an object', async () => {
    const own = { id: 1n, line: { sku: 'private' }, because: 'private' };
    const value = { ...own, toJSON: () => ({ ...own, line: null, because: null }) };
    expect(await textOf(Row, value)).toBe('{"id":1,"line":null,"because":null}');
  });
});

describe('a method is no value of a property', () => {
  class Sent extends dto({
    total: int,
    status: optional(string),
    items: optional(list(int)),
    line: optional(Line),
    at: optional(dateTime),
    id: optional(long),
  }) {}
  /** Has methods under the names of properties. */
  class Row {
    constructor(readonly total: number) {}
    status(): string {
      return 'open';
    }
    items(): number[] {
      return [];
    }
    line(): object {
      return {};
    }
    at(): Date {
      return new Date(0);
    }
    id(): bigint {
      return 1n;
    }
  }
  class Plain extends dto({ total: int, items: optional(list(int)), at: optional(dateTime) }) {}

  it.each<[string, AnyType]>([
    ['where numbers are exact', Sent],
    ['where JSON.stringify writes', Plain],
  ])('it is left out: %s', async (_where, type) => {
    const row = new Row(5);
    expect(await textOf(type, row)).toBe('{"total":5}');
    expect(await textOf(list(type), [row])).toBe('[{"total":5}]');
    expect(await textOf(type, row, { settings: { 'json spaces': 1 } })).toBe('{\n "total": 5\n}');
    const replacer = (_key: string, own: unknown): unknown => own;
    expect(await textOf(type, row, { settings: { 'json replacer': replacer } })).toBe('{"total":5}');
  });

  it('an object with such methods only is written as its toJSON() says', async () => {
    class Kept {
      status(): string {
        return 'closed';
      }
      toJSON(): object {
        return { status: 'open', total: 5, secret: 1 };
      }
    }
    expect(await textOf(Sent, new Kept())).toBe('{"total":5,"status":"open"}');
  });
});

describe.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'])(
  'a property named %s, under which every object has something',
  name => {
    const types: readonly [string, AnyType, unknown][] = [
      ['string', string, 'x'],
      ['list', list(string), ['x']],
      ['dto', Refusal, { because: 'x' }],
      ['long', long, 1n],
    ];
    const view = (type: AnyType): AnyType => dto({ driver: string, [name]: optional(type) });

    it.each(types)('is left out if it was not given, and written if it was: %s', async (_what, type, value) => {
      const text = `{"driver":"a","${name}":${JSON.stringify(value, (_key, own: unknown) => (own === 1n ? 1 : own))}}`;
      class Team extends (view(type) as new () => object) {}
      for (const settings of [{}, { 'json replacer': (_key: string, own: unknown) => own }]) {
        const written = (given: object): Promise<string> => textOf(Team, given, { settings });
        expect(await written({ driver: 'a' })).toBe('{"driver":"a"}');
        expect(await written(Object.assign(new Team(), { driver: 'a' }))).toBe('{"driver":"a"}');
        expect(await written({ driver: 'a', [name]: value })).toBe(text);
        expect(await written(Object.assign(new Team(), { driver: 'a', [name]: value }))).toBe(text);
        expect(await written(Object.assign(Object.create(null) as object, { driver: 'a' }))).toBe('{"driver":"a"}');
      }
    });

    it('is not a method of its class, but what a getter of the class returns', async () => {
      const inherited = (descriptor: PropertyDescriptor): object =>
        Object.create(Object.defineProperty({ driver: 'a' }, name, descriptor)) as object;
      const type = view(list(string));
      expect(await textOf(type, inherited({ value: () => ['x'] }))).toBe('{"driver":"a"}');
      expect(await textOf(type, inherited({ get: () => ['x'] }))).toBe(`{"driver":"a","${name}":["x"]}`);
    });
  },
);

it('a response goes on as deep as the value does, where a type refers to itself', async () => {
  class Node {
    @field(long) id!: bigint;
    @field(list(lazy(() => Node))) children!: Node[];
  }
  expect(
    await textOf(Node, { id: 1n, secret: 1, children: [{ id: 9007199254740993n, secret: 2, children: [] }] }),
  ).toBe('{"id":1,"children":[{"id":9007199254740993,"children":[]}]}');
});

it("a value that contains itself is the application's error", async () => {
  class Node {
    @field(optional(lazy(() => Node))) next: unknown;
  }
  const loop: { next?: unknown } = {};
  loop.next = loop;
  const { status, text } = await answered(res => res.json(loop), { 200: Node });
  expect([status, JSON.parse(text)]).toMatchObject([500, { secret: 'x' }]);
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
  const written: unknown[] = [];
  const money: JsonConverter<Money> = {
    type: Money,
    read: () => ({ success: false }),
    write(value) {
      written.push(value);
      return { eur: value.cents / 100 };
    },
  };
  const value = { basePrice: new Money(150), allPrices: [new Money(1)], oldPrice: null, maybe: undefined };

  it('converters write, but not null or undefined', async () => {
    expect(await textOf(Offer, value, { converters: [money] })).toBe(
      '{"basePrice":{"eur":1.5},"allPrices":[{"eur":0.01}],"oldPrice":null}',
    );
    expect(written).toEqual([new Money(150), new Money(1)]);
    expect(await textOf(list(Money), [new Money(1)], { converters: [money] })).toBe('[{"eur":0.01}]');
  });

  it("an error that a converter throws is the application's", async () => {
    const { status, text } = await answered(
      res => res.json(value),
      { 200: Offer },
      {
        converters: [
          {
            ...money,
            write: () => {
              throw new Error('no rates');
            },
          },
        ],
      },
    );
    expect([status, text]).toEqual([500, '{"error":"no rates","secret":"x"}']);
  });

  it('the naming policy makes the names, jsonPropertyName wins', async () => {
    const propertyNamingPolicy = 'snake_case';
    expect(await textOf(Offer, value, { converters: [money], propertyNamingPolicy })).toBe(
      '{"base_price":{"eur":1.5},"all_prices":[{"eur":0.01}],"old_price":null}',
    );
    expect(await textOf(Line, lines[0], { propertyNamingPolicy })).toBe('{"sku":"tea","price":4.5}');
  });

  it('a serializer context brings its responses', async () => {
    expect(
      (
        await answered(
          res => res.status(409).json({ because: 'x', secret: 1 }),
          {},
          { serializerContext: serializerContext({ responses: { 409: Refusal } }) },
        )
      ).text,
    ).toBe('{"because":"x"}');
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

describe('an object of another shape than declared is never shown', () => {
  class Price {
    constructor(readonly amount: string) {}
    toString(): string {
      return this.amount;
    }
    static tryParse(text: string | undefined): ParseResult<Price> {
      return text === undefined ? { success: false } : { success: true, value: new Price(text) };
    }
  }
  enum Level {
    Low = 1,
  }
  const scalars: readonly [string, AnyType][] = [
    ['string', string],
    ['bool', bool],
    ['int', int],
    ['long', long],
    ['double', double],
    ['decimal', decimal],
    ['dateTime', dateTime],
    ['timeSpan', timeSpan],
    ['guid', guid],
    ['uri', uri],
    ['version', version],
    ['enum', enumOf(Level)],
    ['nullable string', nullable(string)],
    ['optional int', optional(int)],
  ];
  const shows = async (type: AnyType, value: unknown): Promise<[number, boolean]> => {
    class View extends dto({ v: type }) {}
    const { status, text } = await answered(res => res.json({ v: value }), { 200: View });
    return [status, text.includes('private')];
  };

  it.each(scalars)('instead of a scalar: %s', async (_name, type) => {
    for (const value of [{ a: 'private' }, ['private'], [{ a: 'private' }], new Map([['a', 'private']])])
      expect(await shows(type, value)).toEqual([500, false]);
  });

  it('instead of a scalar, even if it has a toJSON', async () => {
    for (const [, type] of scalars)
      expect(await shows(type, { toJSON: () => ({ a: 'private' }) })).toEqual([500, false]);
  });

  it.each<[string, unknown]>([
    ['a plain object', { a: 'private' }],
    ['objects', [{ a: 'private' }]],
  ])('instead of a class with tryParse: %s', async (_what, value) => {
    expect(await shows(Price, new Price('5'))).toEqual([200, false]);
    expect(await shows(Price, value)).toEqual([500, false]);
  });

  it.each<[string, AnyType, unknown]>([
    ['an array, for an object', Refusal, [{ because: 'private' }]],
    ['text, for an object', Refusal, 'private'],
    ['an object, for a list', list(Refusal), { 0: { because: 'private' } }],
    ['a Set, for a list', list(string), new Set(['private'])],
    ['an array, in a list of objects', list(Refusal), [[{ because: 'private' }]]],
    ['an object, in a list of text', list(string), [{ because: 'private' }]],
    ['an array, where an object may be missing', optional(Refusal), ['private']],
  ])('%s', async (_what, type, value) => {
    expect(await shows(type, value)).toEqual([500, false]);
  });
});

describe('a status beside the value, which Express 4 accepts on either side', () => {
  const express4 = expressVersions[1]?.[1] ?? express;
  it.each<[string, unknown[]]>([
    ['before it', [201, order]],
    ['after it', [order, 201]],
  ])('%s: declared properties only', async (_where, given) => {
    for (const method of ['json', 'jsonp'] as const) {
      const { status, text } = await answered(
        res => (res[method] as (...values: unknown[]) => unknown)(...given),
        { 201: Order },
        { framework: express4, ...(method === 'jsonp' && { path: '/?callback=show' }) },
      );
      expect([
        status,
        text.includes('"orderId":9007199254740993') || method === 'jsonp',
        text.includes('margin'),
      ]).toEqual([201, true, false]);
    }
  });

  it('a status for which nothing is declared: as without bindonce', async () => {
    const { status, text } = await answered(
      res => (res.json as (...values: unknown[]) => unknown)(202, { a: 1 }),
      { 201: Order },
      { framework: express4 },
    );
    expect([status, text]).toEqual([202, '{"a":1}']);
  });
});
