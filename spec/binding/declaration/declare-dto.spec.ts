import express, { type RequestHandler } from 'express';
import {
  bindRequest,
  dto,
  field,
  hasPermission,
  int,
  list,
  optional,
  queryParam,
  string,
  type AnyType,
  type Property,
} from '../../../lib';
import { ask } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

describe('dto({...})', () => {
  it('makes a class that can be extended, with methods, and built by hand', async () => {
    class Line extends dto({ sku: string, quantity: int }) {
      get label(): string {
        return `${this.quantity} x ${this.sku}`;
      }
    }
    const { dto: bound } = await bind(Line, { json: { sku: 'a', quantity: 2 } });
    expect([bound instanceof Line, bound?.label]).toEqual([true, '2 x a']);
    expect(Object.assign(new Line(), { sku: 'b', quantity: 1 }).label).toBe('1 x b');
  });

  it('takes bare types and declared properties side by side', async () => {
    class Mixed extends dto({
      a: int,
      b: field(int),
      c: queryParam(int),
      d: list(int),
      e: hasPermission('x', { required: false }),
      f: optional(int),
    }) {}
    expect((await bind(Mixed, { json: { a: 1, b: 2, d: [3] }, path: '/?c=4' })).dto).toEqual({
      a: 1,
      b: 2,
      c: 4,
      d: [3],
      e: false,
    });
  });

  it('reads nothing if it declares nothing: what the client sends is left to the next middlewares', async () => {
    class Nothing extends dto({}) {}
    const { dto: bound } = await bind(Nothing, { path: '/?a=1' });
    expect([bound instanceof Nothing, bound]).toEqual([true, {}]);
    const echo: RequestHandler = (req, res) => void res.json(req.body);
    const app = express().post('/', bindRequest(Nothing), express.json(), echo);
    expect((await ask(app, { json: { a: 1 } })).body).toEqual({ a: 1 });
  });

  it('is an empty object where one that declares nothing is nested', async () => {
    const Outer = dto({ inner: dto({}), more: list(dto({})) });
    expect((await bind(Outer, { json: { inner: { a: 1 }, more: [{}, { b: 2 }] } })).dto).toEqual({
      inner: {},
      more: [{}, {}],
    });
    const { errors } = await bind(Outer, { json: { inner: 1, more: [] } });
    expect(errors).toMatchObject([{ pointer: '/inner', detail: 'The value 1 is not a JSON object.' }]);
  });

  it('can be used without a name', async () => {
    expect((await bind(dto({ a: int }), { path: '/?a=1' })).dto).toEqual({ a: 1 });
  });

  it('is inherited: a class of a class binds all of their properties', async () => {
    class Base extends dto({ a: int, b: queryParam(int, { default: 5 }) }) {}
    class Derived extends Base {
      get sum(): number {
        return this.a + this.b;
      }
    }
    const { dto: bound } = await bind(Derived, { path: '/?a=1' });
    expect([bound?.sum, bound instanceof Base]).toEqual([6, true]);
    expect((await bind(Base, { path: '/?a=1' })).dto?.constructor).toBe(Base);
  });

  it('two dtos that share an entry do not share anything else', async () => {
    const page = queryParam(int, { default: 1 });
    class A extends dto({ page, a: int }) {}
    class B extends dto({ page, b: int }) {}
    expect((await bind(A, { path: '/?a=1&b=2&page=3' })).dto).toEqual({ a: 1, page: 3 });
    expect((await bind(B, { path: '/?a=1&b=2' })).dto).toEqual({ b: 2, page: 1 });
  });
});

describe('an entry that is not a type is refused when the class is made, by name', () => {
  class Plain {
    when = new Date();
  }
  const none: readonly [string, unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['text', 'string'],
    ['a plain object', {}],
  ];

  it.each<[string, AnyType, string]>([
    ['a constructor that is no dto', Date, 'Date'],
    ['a plain class', Plain, 'Plain'],
    ['a function', (() => 1) as unknown as AnyType, 'value'],
  ])('when the middleware is made, where a parser or a converter could have been given: %s', (_what, type, name) => {
    class Meeting extends dto({ fine: int, when: type }) {}
    expect(() => bindRequest(Meeting)).toThrow(
      `bindRequest: Meeting.when: ${name} has no declared properties and no static tryParse`,
    );
  });

  it.each(none)('bare: %s', (_what, type) => {
    expect(() => dto({ fine: int, when: type as AnyType })).toThrow(/"when"/);
  });

  it.each(none.slice(0, 3))('inside field(): %s', (_what, type) => {
    expect(() => bindRequest(dto({ fine: int, when: field(type as AnyType) as Property<unknown> }))).toThrow(/when/);
  });

  it.each(none.slice(0, 3))('inside list(): %s', (_what, type) => {
    expect(() => bindRequest(dto({ fine: int, when: list(type as AnyType) }))).toThrow(/when/);
  });
});

it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty'])(
  'a property may be called %s, and is required like any other',
  async name => {
    class Odd extends dto({ [name]: string }) {}
    class Outer extends dto({ in: Odd }) {}
    expect((await bind(Odd, { json: {} })).errors).toEqual([
      { name, in: 'json', pointer: `/${name}`, detail: 'A value is required.' },
    ]);
    expect((await bind(Outer, { json: { in: {} } })).errors).toEqual([
      { name: `in.${name}`, in: 'json', pointer: `/in/${name}`, detail: 'A value is required.' },
    ]);
    expect(Object.entries((await bind(Odd, { json: { [name]: 'a' } })).dto ?? {})).toEqual([[name, 'a']]);
  },
);

it.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['text', 'sku'],
  ['a list', [string]],
  ['a function', () => string],
])('an invalid shape is refused when it is declared, and the message shows a valid one: %s', (_title, given) => {
  expect(() => dto(given as never)).toThrow(
    new TypeError(
      'dto takes an object with the type of each property, for example dto({ sku: string, quantity: int })',
    ),
  );
});
