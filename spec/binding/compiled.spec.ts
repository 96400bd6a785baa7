import express from 'express';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bindRequest, dto, field, int, list, string, type AnyType } from '../../lib';
import { send } from '../servers/listen';
import { bind, serving } from './one-endpoint';

/** Names that would be something else in code than they are in a name. */
const names = [
  'a"b', 'a\'b', 'a\\', 'a`${1}', 'a\nb', 'a\r', '\u2028', '\u2029', '\ud800', ' ', '0', '01', '-1', '"];throw new Error();//', '*/', 'value', 'sent', 'dto', 'json', 'place', 'filling', 'goOn', 'inherited', 'fields', 'read0', 'undefined', 'arguments', 'return', 'class', 'ünïcödé', '💶',
  'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__',
];

it.each(names)('%j is a name like any other, of a property and in JSON, at the root and below', async name => {
  class Inner extends dto({ [name]: int }) {}
  class Outer extends dto({ [name]: int, inner: Inner, renamed: field(int, { jsonPropertyName: `${name}!` }) }) {}
  const json = JSON.stringify({ [name]: 1, inner: { [name]: 2 }, [`${name}!`]: 3 });
  const same = (property: string): string => property;
  const { dto: bound } = await bind(Outer as AnyType, { json }, { propertyNamingPolicy: same });
  expect(bound).toEqual({ [name]: 1, inner: { [name]: 2 }, renamed: 3 });
  const { errors } = await bind(Outer as AnyType, { json: '{"inner":{}}' }, { propertyNamingPolicy: same });
  expect(errors?.map(({ detail }) => detail)).toEqual(['A value is required.', 'A value is required.', 'A value is required.']);
});

it.each(['__proto__', 'constructor', 'toString'])('%s in JSON is what was sent under that name, or is missing', async jsonPropertyName => {
  class Odd extends dto({ a: field(string, { jsonPropertyName, required: false }) }) {}
  class Outer extends dto({ odd: Odd }) {}
  expect((await bind(Outer, { json: `{"odd":{"${jsonPropertyName}":"v"}}` })).dto).toEqual({ odd: { a: 'v' } });
  expect((await bind(Outer, { json: '{"odd":{}}' })).dto).toEqual({ odd: {} });
});

it('a required property that the class has a method of is missing all the same', async () => {
  class Order extends dto({ total: int, id: int }) {}
  Object.defineProperty(Order.prototype, 'total', { value: () => 1, writable: true });
  expect((await bind(Order, { json: { id: 1 } })).errors).toMatchObject([{ name: 'total', detail: 'A value is required.' }]);
  expect((await bind(Order, { json: { id: 1, total: 2 } })).dto).toEqual({ id: 1, total: 2 });
});

it('properties are set in the order of their declaration, whatever their types', async () => {
  class Inner extends dto({ c: int }) {}
  class Order extends dto({ z: int, inner: Inner, a: string, many: list(int), m: int }) {}
  expect(JSON.stringify((await bind(list(Order), { json: [{ m: 1, many: [1], a: 'x', inner: { c: 1 }, z: 2 }] })).dto)).toBe('[{"z":2,"inner":{"c":1},"a":"x","many":[1],"m":1}]');
});

const BOUND = '{"id":1,"lines":[{"n":1},{"n":2,"role":"admin"}]}';

/** Binds, in a process of its own, a body that was parsed before; says what the dto has of its own. */
function boundInProcess(nodeOptions: readonly string[], prepare: string, body = BOUND): string {
  const code = `
    const { bindRequest, dto, int, list, optional, string } = require(${JSON.stringify(join(__dirname, '../../dist'))});
    class Line extends dto({ n: int, role: optional(string), mates: optional(list(string)) }) {}
    class Order extends dto({ id: int, role: optional(string), lines: list(Line) }) {}
    const body = JSON.parse(${JSON.stringify(body)});
    const res = { setHeader() {}, end: text => process.stdout.write(String(text)) };
    const req = { method: 'POST', url: '/', headers: { 'content-type': 'application/json', 'content-length': '9' }, params: {}, readableDidRead: true, body };
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

it('what somebody else has added to Object.prototype is not bound', () => {
  expect(boundInProcess([], 'Object.prototype.role = "admin"; Object.prototype.mates = ["a"]; Object.prototype.n = 7;')).toBe(BOUND);
  expect(boundInProcess([], 'Object.prototype.id = 1; Object.prototype.n = 7;', '{"lines":[{},{"n":1}]}')).toMatch(/2 values are not valid.*"lines\[0\]\.n".*"id"/);
});

it('what has not to be waited for is bound at once: the next handler has its turn before the middleware returns', async () => {
  class Order extends dto({ id: int }) {}
  const bound = bindRequest(Order);
  const order: string[] = [];
  const app = express();
  app.use(express.json());
  app.post('/', (req, res, next) => {
    bound(req, res, () => { order.push('handler'); next(); });
    order.push('returned');
  }, (_req, res) => { res.end(); });
  await serving(app, ({ url }) => send(url, { headers: { 'Content-Type': 'application/json' }, body: '{"id":1}' }));
  expect(order).toEqual(['handler', 'returned']);
});
