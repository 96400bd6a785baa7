import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import express from 'express';
import {
  bindRequest,
  bool,
  decimal,
  dto,
  file,
  formField,
  fromBody,
  fromClaim,
  fromForm,
  fromHeader,
  guid,
  hasPermission,
  int,
  list,
  long,
  optional,
  queryParam,
  routeParam,
  string,
  type AnyType,
} from '../../../lib';
import { processorTime } from '../../support/processor-time';
import { serve } from '../../support/serve';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

/** Facts that other libraries have broken, one spec each. Other specs say more about all of them. */

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'uploads-'));
  folders.push(folder);
  return folder;
}

it('b=false is false, and n=x is a failure', async () => {
  class Query extends dto({ b: queryParam(bool), n: queryParam(int) }) {}
  expect((await bind(Query, { path: '/?b=false&n=7' })).dto).toEqual({ b: false, n: 7 });
  expect(await bind(Query, { path: '/?b=0&n=x' })).toMatchObject({
    status: 400,
    errors: [{ name: 'b' }, { name: 'n' }],
  });
});

it('every failure of every source is in one answer, and no stack trace', async () => {
  class All extends dto({
    id: routeParam(int),
    page: queryParam(int),
    who: fromClaim(string),
    tenant: fromHeader(string),
    may: hasPermission('x'),
    sku: string,
  }) {}
  const { response, errors } = await bind(All, { path: '/a?page=b', json: { sku: 1 } }, { route: '/:id' });
  expect(errors.map(error => error.in).sort()).toEqual(['claim', 'header', 'json', 'permission', 'query', 'route']);
  expect(response.text).not.toMatch(/\bat .*:\d+:\d+|node_modules/);
});

it('an array for an object, and an object for a list, are refused', async () => {
  class Line extends dto({ sku: optional(string) }) {}
  expect((await bind(Line, { json: [{ sku: 'a' }] })).status).toBe(400);
  expect((await bind(list(Line), { json: { sku: 'a' } })).status).toBe(400);
});

it.each<[string, Sent]>([
  ['JSON', { json: '{"sku":"a","admin":true,"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}' }],
  ['a query', { path: '/?sku=a&admin=true&__proto__[admin]=true&constructor.prototype.admin=true' }],
  [
    'a form',
    {
      form: [
        ['sku', 'a'],
        ['admin', 'true'],
        ['__proto__.admin', 'true'],
        ['constructor[prototype][admin]', 'true'],
      ],
    },
  ],
  [
    'a multipart form',
    {
      multipart: [
        ['sku', 'a'],
        ['admin', 'true'],
        ['__proto__[admin]', 'true'],
        ['constructor.prototype.admin', 'true'],
      ],
    },
  ],
])('extra names never reach the dto, and __proto__ and constructor change nothing: %s', async (_where, sent) => {
  class Line extends dto({ sku: string }) {}
  const { dto: bound } = await bind(Line, sent, urlEncoded);
  expect(Object.entries(bound ?? {})).toEqual([['sku', 'a']]);
  expect(({} as { admin?: unknown }).admin).toBeUndefined();
});

it.each([
  [21, 200],
  [1_000, 200],
  [1_001, 400],
])('a collection of %d items is answered with %d', async (count, status) => {
  class Numbers extends dto({ n: list(int) }) {}
  const numbers = Array.from({ length: count }, (_, index) => index);
  const limits = { items: 1_000 };
  const inOrder = status === 200 ? numbers : undefined;
  for (const sent of [
    { json: { n: numbers } },
    { form: numbers.map(n => ['n', String(n)] as const) },
    { form: numbers.map(n => [`n[${n}]`, String(n)] as const).reverse() },
  ]) {
    const { status: answered, dto: bound } = await bind(Numbers, sent, { ...urlEncoded, limits });
    expect([answered, bound?.n]).toEqual([status, inOrder]);
  }
});

it.each<[string, AnyType, Sent]>([
  ['t[4294967294]=x', dto({ t: list(string) }), { path: '/?t[4294967294]=x' }],
  ['10,000 levels of [a]', dto({ a: optional(string) }), { form: `a${'[a]'.repeat(10_000)}=x` }],
  ['100,000 fields', dto({ a: optional(string) }), { form: 'a=1&'.repeat(100_000) }],
  // 50 MB of JSON: hostile.spec.ts, where the client goes on sending.
])('%s is refused quickly', async (_what, Dto, sent) => {
  let status = 0;
  const ms = await processorTime(async () => {
    ({ status } = await bind(Dto, sent, urlEncoded));
  });
  expect([status >= 400 && status < 500, ms < 5_000]).toEqual([true, true]);
});

it('a permission or a claim cannot be set from the body, the query, the form or a header', async () => {
  class Guarded extends dto({ may: hasPermission('orders:cancel', { required: false }), tenant: fromClaim(string) }) {}
  const names = [
    ['may', 'true'],
    ['tenant', 'theirs'],
    ['orders:cancel', 'true'],
    ['permissions', 'orders:cancel'],
  ] as const;
  const headers = { May: 'true', Tenant: 'theirs', Permissions: 'orders:cancel' };
  for (const sent of [
    { json: Object.fromEntries(names) },
    { form: names },
    { multipart: names },
    { path: `/?${new URLSearchParams(names.map(([name, value]) => [name, value])).toString()}` },
  ]) {
    expect((await bind(Guarded, { headers, ...sent }, { ...urlEncoded, user: { tenant: 'ours' } })).dto).toEqual({
      may: false,
      tenant: 'ours',
    });
    expect((await bind(Guarded, { headers, ...sent }, urlEncoded)).dto).toBeUndefined();
  }
});

it('{..},{..} without brackets is a list', async () => {
  class Line extends dto({ sku: string }) {}
  class Search extends dto({ lines: queryParam(list(Line)) }) {}
  expect((await bind(Search, { path: `/?lines=${encodeURIComponent('{"sku":"a"},{"sku":"b"}')}` })).dto).toEqual({
    lines: [{ sku: 'a' }, { sku: 'b' }],
  });
});

it('a POST without a body binds from route, header, claim and query', async () => {
  class Cancel extends dto({
    id: routeParam(int),
    tenant: fromHeader(string),
    who: fromClaim(string, { name: 'sub' }),
    reason: string,
  }) {}
  expect(
    (await bind(Cancel, { path: '/5?reason=late', headers: { Tenant: 't' } }, { route: '/:id', user: { sub: 'ann' } }))
      .dto,
  ).toEqual({ id: 5, tenant: 't', who: 'ann', reason: 'late' });
});

it('an empty JSON body binds to a dto that needs nothing from it', async () => {
  class Cancel extends dto({ id: routeParam(int), note: optional(string) }) {}
  expect(
    (await bind(Cancel, { path: '/5', body: '', headers: { 'Content-Type': 'application/json' } }, { route: '/:id' }))
      .dto,
  ).toEqual({ id: 5 });
});

it.each<[string, Sent]>([
  ['malformed', { body: 'x', headers: { 'Content-Type': 'multipart/form-data; boundary=b' } }],
  ['without a boundary', { body: '--b--', headers: { 'Content-Type': 'multipart/form-data' } }],
  [
    'without an end',
    {
      body: '--b\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\nbytes',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    },
  ],
  [
    'that goes on with a file after its end',
    {
      body: '--b--\r\n--b\r\n--b\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\nbytes',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    },
  ],
  [
    'of a charset that there is not',
    {
      body: '--b\r\nContent-Disposition: form-data; name="title"\r\nContent-Type: text/plain; charset=nonsense\r\n\r\nx\r\n--b--\r\n',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    },
  ],
])('a multipart form %s is answered with 400, and no file stays', async (_how, sent) => {
  const directory = emptyFolder();
  class Upload extends dto({ title: optional(string), photo: optional(file) }) {}
  expect((await bind(Upload, sent, { allowFormData: true, uploads: { storage: 'disk', directory } })).status).toBe(400);
  expect(readdirSync(directory)).toEqual([]);
});

it('nested files arrive in index order, not in the order sent', async () => {
  class Car extends dto({ name: string, photos: list(file) }) {}
  class Garage extends dto({ cars: list(Car) }) {}
  class Upload extends dto({ garage: fromForm(Garage) }) {}
  const photo = (name: string) => new File(['x'], name);
  const { dto: bound } = await bind(
    Upload,
    {
      multipart: [
        ['Cars[2].Photos[1]', photo('2b')],
        ['Cars[2].Name', 'two'],
        ['Cars[0].Photos', photo('0a')],
        ['Cars[2].Photos[0]', photo('2a')],
        ['Cars[0].Name', 'nought'],
        ['Cars[0].Photos', photo('0b')],
      ],
    },
    urlEncoded,
  );
  expect(bound?.garage.cars.map(({ name, photos }) => [name, ...photos.map(one => one.originalname)])).toEqual([
    ['nought', '0a', '0b'],
    ['two', '2a', '2b'],
  ]);
});

it('9007199254740993 and 0.1000000000000000055 are exact, or refused where a parser before has rounded them', async () => {
  class Exact extends dto({ l: long, d: decimal }) {}
  const text = '{"l":9007199254740993,"d":0.1000000000000000055}';
  for (const sent of [{ json: text }, { path: '/?l=9007199254740993&d=0.1000000000000000055' }]) {
    const { dto: bound } = await bind(Exact, sent);
    expect([bound?.l, bound?.d.toFixed()]).toEqual([9007199254740993n, '0.1000000000000000055']);
  }
  expect((await bind(Exact, { json: text }, { before: [express.json()] })).errors.map(({ name }) => name)).toContain(
    'l',
  );
});

it.each<[string, () => AnyType, RegExp]>([
  [
    'two fromBody',
    () => class Order extends dto({ a: fromBody(list(int)), b: fromBody(list(int)) }) {},
    /Order\.a and Order\.b are both fromBody/,
  ],
  [
    'fromForm on a scalar',
    () => class Order extends dto({ a: fromForm(int) }) {},
    /Order\.a: fromForm takes an object/,
  ],
  [
    'a property with no readable type',
    () => class Order extends dto({ a: Date }) {},
    /Order\.a: Date has no declared properties/,
  ],
])('a mistake in the declaration fails when the middleware is made: %s', (_what, declare, message) => {
  expect(() => bindRequest(declare())).toThrow(message);
});

it('hasPermission on a string is refused by the compiler', () => {
  class Order {
    // @ts-expect-error -- a permission on a string is the compiler's to refuse.
    @hasPermission('x') may!: string;
  }
  void Order;
});

it('an uploaded temporary file is gone after the response, after a failure, and after the client hung up', async () => {
  const directory = emptyFolder();
  const options = { allowFormData: true, uploads: { storage: 'disk', directory } } as const;
  class Upload extends dto({ id: optional(guid), photo: formField(file) }) {}
  const photo = new File(['bytes'], 'a.png');
  let seen: readonly string[] = [];
  const app = express();
  const closed: Promise<unknown>[] = [];
  app.post(
    '/',
    (_req, res, next) => {
      closed.push(once(res, 'close'));
      next();
    },
    bindRequest(Upload, options),
    (_req, res) => {
      seen = readdirSync(directory);
      res.end();
    },
  );
  const { url } = await serve(app);
  const form = new FormData();
  form.append('photo', photo);
  await fetch(url, { method: 'POST', body: form });
  form.append('id', 'no guid');
  expect((await fetch(url, { method: 'POST', body: form })).status).toBe(400);
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' } satisfies Partial<AddressInfo> & {
    host: string;
  });
  socket.write(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\nhalf',
  );
  while (closed.length < 3) await new Promise(setImmediate);
  socket.destroy();
  await Promise.all(closed);
  expect(seen).toHaveLength(1);
  while (readdirSync(directory).length > 0) await new Promise(setImmediate);
  expect(readdirSync(directory)).toEqual([]);
});
