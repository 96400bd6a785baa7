import express, { type Express, type Request, type Response } from 'express';
import {
  bindRequest,
  dto,
  field,
  int,
  list,
  long,
  optional,
  queryParam,
  serializerContext,
  string,
  type BindingOptions,
  type JsonConverter,
} from '../../../lib';
import { ask } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';

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
class Nothing extends dto({ page: queryParam(int, { default: 1 }) }) {}

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
    .get('/', bindRequest(Nothing, options), (_req: Request, res: Response) => {
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
