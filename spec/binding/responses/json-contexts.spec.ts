import BigNumber from 'bignumber.js';
import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import {
  bindRequest,
  dateTime,
  decimal,
  dto,
  field,
  int,
  list,
  long,
  optional,
  Problem,
  serializerContext,
  string,
  timeSpan,
  type AnyType,
  type BindingOptions,
  type SerializerTypes,
  configure,
  generatedContexts,
} from '../../../lib';
import { ask } from '../../support/ask';

class Line extends dto({ skuCode: string, unitPrice: decimal }) {}
class Order extends dto({ orderId: long, lines: list(Line), note: optional(string) }) {}
class OrderView extends dto({ orderId: long, total: decimal, placedAt: dateTime, within: timeSpan }) {}
class Refusal extends dto({ because: string }) {}

const orders = serializerContext({
  request: Order,
  responses: { 201: OrderView, 409: Refusal },
  propertyNamingPolicy: 'snake_case',
});
const json = '{"order_id":9007199254740993,"lines":[{"sku_code":"a","unit_price":0.1000000000000000055}]}';
const view = {
  orderId: 9007199254740993n,
  total: new BigNumber('0.1000000000000000055'),
  placedAt: new Date(0),
  within: 5_400_000,
  secret: 'x',
};
const written =
  '{"order_id":9007199254740993,"total":0.1000000000000000055,"placed_at":"1970-01-01T00:00:00.000Z","within":"01:30:00"}';

/** What a rejected read says. */
async function refusal(read: Promise<unknown>): Promise<Problem> {
  const error = await read.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Problem)) throw new TypeError(`not refused: ${String(error)}`);
  return error;
}

describe('read', () => {
  it('makes instances of the class, exactly', async () => {
    const order = await orders.read(json);
    expect([order.constructor, order.lines[0]?.constructor]).toEqual([Order, Line]);
    expect([order.orderId, order.lines.map(line => [line.skuCode, line.unitPrice.toFixed()])]).toEqual([
      9007199254740993n,
      [['a', '0.1000000000000000055']],
    ]);
    expect(Object.keys(await orders.read('{"order_id":1,"lines":[],"orderId":2,"is_admin":true}'))).toEqual([
      'orderId',
      'lines',
    ]);
  });

  it('refuses with everything that is wrong', async () => {
    const { code, status, errors } = await refusal(orders.read('{"lines":[{"sku_code":1},5]}'));
    expect([code, status]).toEqual(['validation-failed', 400]);
    expect(errors).toEqual([
      { name: 'order_id', in: 'json', pointer: '/order_id', detail: 'A value is required.' },
      { name: 'lines[0].sku_code', in: 'json', pointer: '/lines/0/sku_code', detail: 'The value 1 is not a string.' },
      { name: 'lines[0].unit_price', in: 'json', pointer: '/lines/0/unit_price', detail: 'A value is required.' },
      { name: 'lines[1]', in: 'json', pointer: '/lines/1', detail: 'The value 5 is not a JSON object.' },
    ]);
  });

  it.each<[string, AnyType, string, unknown]>([
    ['a list', list(int), '[1,2]', [1, 2]],
    ['a scalar', long, '9007199254740993', 9007199254740993n],
    ['a schema', z.object({ n: z.number() }), '{"n":1.50}', { n: 1.5 }],
    ['an asynchronous schema', z.string().refine(async text => (await Promise.resolve(text)) !== 'no'), '"yes"', 'yes'],
  ])('reads %s', async (_what, request, text, value) => {
    expect(await serializerContext({ request }).read(text)).toEqual(value);
  });
});

describe('write', () => {
  it('writes the declared properties under their JSON names, exactly', () => {
    expect(orders.write(201, view)).toBe(written);
    expect(orders.write(409, { because: 'é"', more: 1 })).toBe('{"because":"é\\""}');
  });
});

it('a method without its types cannot be used', async () => {
  const empty = serializerContext({});
  await expect(empty.read('{}')).rejects.toThrow('it was made without a request type; pass { request: PlaceOrder');
  expect(() => empty.write(200, {})).toThrow('it was made without a response type for 200; pass { responses: { 200:');
  expect(() => orders.write(200, {})).toThrow('it was made without a response type for 200');
});

describe('an endpoint that names a context', () => {
  /** Posts to an endpoint that answers with `view`, or with a refusal when the note says so. */
  async function post(
    options: BindingOptions,
    body: string,
    Dto: AnyType = Order,
    made = bindRequest,
  ): Promise<string> {
    const app = express().post('/', made(Dto, options), (req, res) => {
      const { note } = req.dto as Order;
      if (note === undefined) res.status(201).json(view);
      else res.status(409).json({ because: note, secret: 'x' });
    });
    const { status, text } = await ask(app, { json: body });
    return `${status} ${text}`;
  }
  const refused = json.replace('{', '{"note":"sold out",');

  it('reads and writes as the context says', async () => {
    expect(await post({ serializerContext: orders }, json)).toBe(`201 ${written}`);
    expect(await post({ serializerContext: orders }, refused)).toBe('409 {"because":"sold out"}');
    expect(await post({ serializerContext: orders }, json.replace('order_id', 'orderId'))).toMatch(
      /^400 .*"name":"order_id"/,
    );
  });
});

describe('a mistake is found when the context is made', () => {
  class Undeclared {
    a = 1;
  }
  class Holder extends dto({ list: list(Undeclared) }) {}
  class Twice extends dto({ a: string, b: field(string, { jsonPropertyName: 'a' }) }) {}

  it.each<[string, SerializerTypes]>([
    ['Holder.list: Undeclared has no declared properties', { request: Holder }],
    ['responses[200]: Holder.list: Undeclared has no declared properties', { responses: { 200: Holder } }],
    ['Twice.a and Twice.b have the same JSON name, "a".', { request: Twice }],
    ['responses must be an object of types by status', { responses: { 20: Line } }],
    ['serializerContext: there is no option "naming"', { naming: 'snake_case' } as SerializerTypes],
    ['propertyNamingPolicy must be', { propertyNamingPolicy: 'snake' } as unknown as SerializerTypes],
    ['converters must be', { converters: [{}] } as unknown as SerializerTypes],
  ])('%s', (message, types) => {
    expect(() => serializerContext(types)).toThrow(TypeError);
    expect(() => serializerContext(types)).toThrow(message);
  });
});

class Place extends dto({ itemCount: int }) {}
class View extends dto({ itemCount: int }) {}

const snake: BindingOptions = { propertyNamingPolicy: 'snake_case' };

it('an endpoint that names no context uses the one of its dto', async () => {
  const registerContexts = generatedContexts([
    serializerContext({ request: View }),
    serializerContext({ request: Place, responses: { 200: View } }),
  ]);
  const app = express().post(
    '/',
    configure({ binding: registerContexts(snake) }).bindRequest(Place),
    (req: Request, res: Response) => {
      const { itemCount } = req.dto as Place;
      res.json({ itemCount, passwordHash: 'secret' });
    },
  );
  expect((await ask(app, { json: { item_count: 1 } })).text).toBe('{"item_count":1}');
});

it('contexts of several projects are registered one after the other, and do not change the options', () => {
  const orders = generatedContexts([serializerContext({ request: Place })]);
  const views = generatedContexts([serializerContext({ request: View })]);
  const { contexts, propertyNamingPolicy } = views(orders(snake));
  expect([contexts?.length, propertyNamingPolicy, snake.contexts]).toEqual([2, 'snake_case', undefined]);
});

it('contexts that are none are refused', () => {
  expect(() => bindRequest(Place, { contexts: [{}] } as unknown as BindingOptions)).toThrow(
    'contexts must be an array of serializer contexts',
  );
});
