import express from 'express';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { bindRequest, dto, field, fromClaim, int, list, string, type AnyType, type PropertyType } from '../../../lib';
import { ask } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

/** Names that would be something else in code than they are in a name. */
const names = [
  'a"b',
  "a'b",
  'a\\',
  'a`${1}',
  'a\nb',
  'a\r',
  '\u2028',
  '\u2029',
  '\ud800',
  ' ',
  '0',
  '01',
  '-1',
  '"];throw new Error();//',
  '*/',
  'value',
  'sent',
  'dto',
  'json',
  'place',
  'filling',
  'goOn',
  'inherited',
  'fields',
  'read0',
  'undefined',
  'arguments',
  'return',
  'class',
  'ünïcödé',
  '💶',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
];

it.each(names)('%j is a name like any other, of a property and in JSON, at the root and below', async name => {
  class Inner extends dto({ [name]: int }) {}
  class Outer extends dto({ [name]: int, inner: Inner, renamed: field(int, { jsonPropertyName: `${name}!` }) }) {}
  const json = JSON.stringify({ [name]: 1, inner: { [name]: 2 }, [`${name}!`]: 3 });
  const same = (property: string): string => property;
  const { dto: bound } = await bind(Outer as AnyType, { json }, { propertyNamingPolicy: same });
  expect(bound).toEqual({ [name]: 1, inner: { [name]: 2 }, renamed: 3 });
  const { errors } = await bind(Outer as AnyType, { json: '{"inner":{}}' }, { propertyNamingPolicy: same });
  expect(errors?.map(({ detail }) => detail)).toEqual([
    'A value is required.',
    'A value is required.',
    'A value is required.',
  ]);
});

it.each(['__proto__', 'constructor', 'toString'])(
  '%s in JSON is what was sent under that name, or is missing',
  async jsonPropertyName => {
    class Odd extends dto({ a: field(string, { jsonPropertyName, required: false }) }) {}
    class Outer extends dto({ odd: Odd }) {}
    expect((await bind(Outer, { json: `{"odd":{"${jsonPropertyName}":"v"}}` })).dto).toEqual({ odd: { a: 'v' } });
    expect((await bind(Outer, { json: '{"odd":{}}' })).dto).toEqual({ odd: {} });
  },
);

it('a required property that the class has a method of is missing all the same', async () => {
  class Order extends dto({ total: int, id: int }) {}
  Object.defineProperty(Order.prototype, 'total', { value: () => 1, writable: true });
  expect((await bind(Order, { json: { id: 1 } })).errors).toMatchObject([
    { name: 'total', detail: 'A value is required.' },
  ]);
  expect((await bind(Order, { json: { id: 1, total: 2 } })).dto).toEqual({ id: 1, total: 2 });
});

it('properties of all types and sources are set in the order of their declaration', async () => {
  class Inner extends dto({ c: int }) {}
  class Order extends dto({ z: int, inner: Inner, a: string, many: list(int), m: int }) {}
  expect(
    JSON.stringify((await bind(Order, { path: '/?z=2&many=1', json: { m: 1, a: 'x', inner: { c: 1 } } })).dto),
  ).toBe('{"z":2,"inner":{"c":1},"a":"x","many":[1],"m":1}');
  expect(
    JSON.stringify((await bind(list(Order), { json: [{ m: 1, many: [1], a: 'x', inner: { c: 1 }, z: 2 }] })).dto),
  ).toBe('[{"z":2,"inner":{"c":1},"a":"x","many":[1],"m":1}]');
});

const BOUND = '{"id":1,"lines":[{"n":1},{"n":2,"role":"admin"}]}';

/** Binds, in a process of its own, a body that was parsed before; says what the dto has of its own. */
function boundInProcess(nodeOptions: readonly string[], prepare: string, body = BOUND): string {
  const code = `
    const { bindRequest, dto, int, list, optional, string } = require(${JSON.stringify(join(__dirname, '../../../dist'))});
    class Line extends dto({ n: int, role: optional(string), mates: optional(list(string)) }) {}
    class Order extends dto({ id: int, role: optional(string), lines: list(Line) }) {}
    const body = JSON.parse(${JSON.stringify(body)});
    const res = { setHeader() {}, removeHeader() {}, end: text => process.stdout.write(String(text)) };
    const req = { method: 'POST', url: '/', headers: { 'content-type': 'application/json', 'content-length': '9' }, params: {}, readableDidRead: true, readableEnded: true, body };
    const middleware = bindRequest(Order);
    ${prepare}
    middleware(req, res, error => process.stdout.write(String(error ?? JSON.stringify(req.dto))));`;
  const { stdout, stderr } = spawnSync(process.execPath, [...nodeOptions, '-e', code], { encoding: 'utf8' });
  return stdout + stderr;
}

it('binds where the runtime forbids to make code out of strings', () => {
  const isForbidden = 'try { new Function(""); process.stdout.write("allowed"); } catch {}';
  expect(boundInProcess(['--disallow-code-generation-from-strings'], isForbidden)).toBe(BOUND);
  expect(boundInProcess([], isForbidden)).toBe(`allowed${BOUND}`);
});

it.each<[string, string]>([
  [
    'that was given another prototype',
    'req.body = Object.assign({}, JSON.parse(\'{"id":1,"lines":[],"__proto__":{"role":"admin"}}\'));',
  ],
  [
    'whose class has a getter of the name',
    'req.body = Object.assign(new class { get role() { return "admin"; } }, { id: 1, lines: [] });',
  ],
])('only own properties of a body %s are bound', (_what, prepare) => {
  expect(boundInProcess([], prepare)).toBe('{"id":1,"lines":[]}');
});

it('a property that other code has added to Object.prototype is not bound', () => {
  expect(
    boundInProcess([], 'Object.prototype.role = "admin"; Object.prototype.mates = ["a"]; Object.prototype.n = 7;'),
  ).toBe(BOUND);
  expect(boundInProcess([], 'Object.prototype.id = 1; Object.prototype.n = 7;', '{"lines":[{},{"n":1}]}')).toMatch(
    /2 values are not valid.*"lines\[0\]\.n".*"id"/,
  );
});

it('a dto without asynchronous values is bound at once: the next handler is called before the middleware returns', async () => {
  class Order extends dto({ id: int }) {}
  const bound = bindRequest(Order);
  const order: string[] = [];
  const app = express();
  app.use(express.json());
  app.post(
    '/',
    (req, res, next) => {
      bound(req, res as never, () => {
        order.push('handler');
        next();
      });
      order.push('returned');
    },
    (_req, res) => {
      res.end();
    },
  );
  await ask(app, { json: { id: 1 } });
  expect(order).toEqual(['handler', 'returned']);
});

describe('a required value must have been sent; a value that the dto already has does not count', () => {
  it('an own field that says nothing, over a method of a base class, is missing', async () => {
    class Base {
      total(): number {
        return 1;
      }
    }
    class Order extends (Base as new () => object) {
      total: number | undefined;
    }
    field(int)(Order.prototype, 'total');
    expect((await bind(Order, { json: {} })).errors).toMatchObject([{ name: 'total', detail: 'A value is required.' }]);
  });

  it('a value that a setter takes is bound', async () => {
    class SignUp extends dto({ password: string, id: int }) {}
    const hashed: string[] = [];
    Object.defineProperty(SignUp.prototype, 'password', {
      set: (value: string) => {
        hashed.push(value.toUpperCase());
      },
    });
    expect([(await bind(SignUp, { json: { password: 'x', id: 2 } })).dto, hashed]).toEqual([{ id: 2 }, ['X']]);
    expect((await bind(SignUp, { json: { password: 'x' } })).errors).toMatchObject([{ name: 'id' }]);
  });

  it('a getter is never asked on the prototype', async () => {
    class Order extends dto({ total: int, id: int }) {}
    const totals = new WeakMap<object, number>();
    Object.defineProperty(Order.prototype, 'total', {
      get(this: object) {
        if (this === Order.prototype) throw new Error('asked on the prototype');
        return totals.get(this);
      },
      set(this: object, value: number) {
        totals.set(this, value);
      },
    });
    expect((await bind(Order, { json: { total: 5, id: 1 } })).dto).toMatchObject({ total: 5, id: 1 });
  });
});

it('a setter sees the value that counts, and no other', async () => {
  const seen: string[] = [];
  class User extends dto({ role: fromClaim(string, { required: false }) }) {}
  Object.defineProperty(User.prototype, 'role', {
    set: (value: string) => {
      seen.push(value);
    },
  });
  await bind(User, { path: '/?role=root', json: { role: 'admin' } }, { user: { role: 'user' } });
  expect(seen).toEqual(['user']);
});

it('a type that is made of another one and reads JSON otherwise is read as it says', async () => {
  const short: PropertyType<string> = {
    codec(codecs) {
      const own = codecs.of(string);
      return {
        ...own,
        name: 'short text',
        fromJson: (value, location) =>
          typeof value === 'string' && value.length < 3 ? value : location.failValue(value, 'short text'),
      };
    },
  };
  class Order extends dto({ a: short, lines: list(class Line extends dto({ a: short }) {}) }) {}
  expect((await bind(Order, { json: { a: 'ok', lines: [{ a: 'ok' }] } })).dto).toEqual({
    a: 'ok',
    lines: [{ a: 'ok' }],
  });
  expect((await bind(Order, { json: { a: 'far too long', lines: [{ a: 'far too long' }] } })).errors).toMatchObject([
    { name: 'a' },
    { name: 'lines[0].a' },
  ]);
});

it.each([
  ['at once', (value: unknown) => value],
  ['later', (value: unknown) => Promise.resolve(value)],
])('a later value that resolves to undefined does not overwrite one that was found %s', async (_when, found) => {
  const promising: StandardSchemaV1<unknown, unknown> = {
    '~standard': {
      version: 1,
      vendor: 'spec',
      validate: value => (value === 'nothing' ? Promise.resolve({ value: undefined }) : wrapped(found(value))),
    },
  };
  expect((await bind(dto({ a: promising }), { path: '/?a=nothing', json: { a: 1 } })).dto).toEqual({ a: 1 });
});

const wrapped = (value: unknown): StandardSchemaV1.Result<unknown> | Promise<StandardSchemaV1.Result<unknown>> =>
  value instanceof Promise ? value.then(known => ({ value: known as unknown })) : { value };
