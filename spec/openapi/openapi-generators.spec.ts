import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import express from 'express';
import { z } from 'zod';
import { bindRequest, bool, dateTime, decimal, dto, enumOf, field, file, formField, fromClaim } from '../../lib';
import { fromCookie, fromForm, fromHeader, fromQuery, guid, idempotency, int, lazy, list, long } from '../../lib';
import { nullable, oneOf, optional, plainText, problemDetails, queryParam, record, routeParam } from '../../lib';
import { string } from '../../lib';
import type { AnyType } from '../../lib';
import { documentOf } from '../support/described';
import { listen, type Listening } from '../support/listen';

const run = promisify(execFile);

/** The last versions that run on Node 20. */
const GENERATORS = [
  ...['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', '@hey-api/openapi-ts@0.95.0', 'orval@7.13.2'],
  ...['oazapfts@7.5.0', '@oazapfts/runtime@1.2.0', 'openapi-typescript-codegen@0.31.0'],
  ...['swagger-typescript-api@13.13.0', 'zod@4.6.7', 'typescript@5.9.3', '@types/node@20', 'form-data@4', 'axios@1'],
];

class Point extends dto({ x: int, y: optional(int) }) {}
class Box extends dto({ city: string, floor: optional(int) }) {}
class Deep extends dto({ name: string, at: Point }) {}
class Card extends dto({ number: string, limit: decimal }) {}
class Iban extends dto({ iban: string }) {}
const Pay = oneOf('kind', { card: Card, iban: Iban });
class Line extends dto({ sku: string, quantity: int.with({ minimum: 1 }), price: decimal }) {}
class Tree extends dto({ name: string, children: field(list(lazy((): AnyType => Tree)), { required: false }) }) {}
class PlaceOrder extends dto({
  customerId: routeParam(guid),
  tenant: fromHeader(string, { name: 'X-Tenant' }),
  caller: fromClaim(string, { name: 'sub' }),
  lines: field(list(Line)),
  pay: Pay,
  labels: record(string),
  stock: optional(record(list(int))),
  at: dateTime,
  mail: field(z.email()),
  note: optional(nullable(string)),
  tree: optional(Tree),
  count: optional(long),
  rush: queryParam(bool, { default: false }),
}) {}
class Placed extends dto({ id: guid, total: decimal, lines: field(list(Line)), pay: Pay, at: dateTime }) {}
class Search extends dto({
  box: queryParam(optional(Box)),
  labels: queryParam(optional(record(string))),
  pay: queryParam(optional(Pay)),
  part: queryParam(optional(z.object({ a: z.string() }))),
  deep: queryParam(optional(Deep)),
  points: queryParam(optional(list(Point))),
  matrix: queryParam(optional(list(list(int)))),
  tags: queryParam(optional(list(string))),
  levels: queryParam(optional(list(enumOf(['low', 'high'])))),
  price: queryParam(optional(decimal)),
  ids: fromHeader(optional(list(int)), { name: 'X-Ids' }),
  trace: fromCookie(optional(string)),
}) {}
class Upload extends dto({
  title: formField(string),
  scan: file,
  more: optional(list(file)),
  tags: formField(list(string)),
  box: formField(Box),
  points: formField(list(Point)),
  price: formField(decimal),
}) {}
class Page extends dto({ page: field(int, { default: 1 }), at: optional(Point), sort: optional(list(string)) }) {}
class Publish extends dto({ title: string, at: Point, pages: list(Point) }) {}

/** What handlers were given. */
const seen: Record<string, unknown[]> = {};

const asText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

function shop(): express.Express {
  const app = express();
  app.use((req, _res, next) => {
    if (req.get('authorization') === 'Bearer ann') Object.assign(req, { auth: { payload: { sub: 'ann' } } });
    next();
  });
  const seeing: express.RequestHandler = (req, _res, next) => {
    const { scan, more, ...dto } = req.dto as Partial<Upload>;
    const files = scan && { scan: scan.buffer.toString(), more: more?.map(one => one.size) };
    (seen[req.path.split('/')[1] ?? ''] ??= []).push(JSON.parse(JSON.stringify({ ...dto, ...files }, asText)));
    next();
  };
  const answer: express.RequestHandler = (_req, res) => void res.json({ ok: true });
  const Ok = z.object({ ok: z.boolean() });
  const named = (operationId: string) => ({ openapi: { operationId }, responses: { 200: Ok } });
  app.post(
    '/orders/:customerId',
    idempotency(),
    bindRequest(PlaceOrder, { openapi: { operationId: 'placeOrder' }, responses: { 201: Placed } }),
    seeing,
    (req, res) => {
      res.status(201).json({ ...req.dto, id: req.dto.customerId, total: '4.50' });
    },
  );
  app.get('/search', bindRequest(Search, named('search')), seeing, answer);
  app.post('/uploads', idempotency(), bindRequest(Upload, { allowFormData: true, ...named('upload') }), seeing, answer);
  // Compiled only.
  app.get('/undeclared', bindRequest(dto({ all: fromQuery(Page) })), answer);
  app.post('/forms', bindRequest(dto({ all: fromForm(Publish) }), { allowFormData: { urlEncoded: true } }), answer);
  app.post('/either', bindRequest(Box, { allowFormData: { urlEncoded: true } }), answer);
  app.put('/points', bindRequest(list(Point), { responses: { 204: string } }), answer);
  app.put('/texts', bindRequest(dto({ text: plainText() })), answer);
  app.post('/schemas', bindRequest(z.object({ mail: z.email() })), answer);
  app.get('/files/*path', bindRequest(dto({ path: routeParam(list(string)) })), answer);
  app.use(problemDetails());
  return app;
}

const CALLS = `
import createClient from 'openapi-fetch';
import type { paths } from './out/openapi-typescript';
import * as hey from './out/hey-api';
import { client } from './out/hey-api/client.gen';
import * as orval from './out/orval/api';
import * as zods from './out/orval-zod/api';
import * as oazapfts from './out/oazapfts';
import { DefaultService, OpenAPI } from './out/codegen';
import { Api } from './out/swagger/api';

const base = process.env['BASE'] ?? '';
const id = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';
const order: orval.PlaceOrder & hey.PlaceOrder & oazapfts.PlaceOrder = {
  lines: [{ sku: 'tea', quantity: 2, price: '4.50' }],
  pay: { kind: 'card', number: '42', limit: '9007199254740993.10' },
  labels: { red: '1', 'a.b': '2' }, stock: { tea: [1, 2] }, at: '2026-11-28T10:00:00.000Z', mail: 'ann@example.com',
  note: null, tree: { name: 'a', children: [{ name: 'b' }] }, count: '9007199254740993',
};
const lists = { tags: ['a', 'b,c'], levels: ['low' as const, 'high' as const], price: '1.10' };
const texts = { deep: '{"name":"a","at":{"x":1}}', points: '[{"x":1},{"x":2}]', matrix: '[[1],[2,3]]' };
const objects = { box: '{"city":"Oslo","floor":2}', labels: '{"red":"1"}', pay: '{"kind":"iban","iban":"NO9"}', part: '{"a":"b"}' };
const form = () => ({
  title: 'T', scan: new Blob(['hello']), more: [new Blob(['1']), new Blob(['22'])], tags: ['a', 'b'],
  box: { city: 'Oslo' }, points: [{ x: 1 }, { x: 2 }], price: '0.10',
});
const auth = { Authorization: 'Bearer ann' };

async function main(): Promise<void> {
  client.setConfig({ baseUrl: base, auth: () => 'ann' });
  const answers: unknown[] = [];
  const placed = await hey.placeOrder({ path: { customerId: id }, headers: { 'X-Tenant': 't', 'Idempotency-Key': 'hey' }, query: { rush: true }, body: order });
  answers.push(placed.response?.status, placed.data?.total);
  await hey.search({ query: { ...lists, ...texts, ...objects } });
  await hey.upload({ headers: { 'Idempotency-Key': 'hey' }, body: form() });
  const refused = await hey.placeOrder({ path: { customerId: id }, headers: { 'X-Tenant': 't', 'Idempotency-Key': 'not' }, body: { ...order, at: 'never' } });
  answers.push(refused.error?.status);

  const key = { 'Idempotency-Key': 'orval' };
  const own = await orval.placeOrder(id, order, { rush: true }, { headers: { ...auth, ...key, 'X-Tenant': 't' } });
  answers.push(own.status, own.status === 201 ? own.data.total : own.data.detail);
  await orval.search({ ...lists, ...texts, ...objects });
  await orval.upload(form(), { headers: key });
  answers.push(zods.placeOrderBody.safeParse(order).success);

  Object.assign(oazapfts.defaults, { baseUrl: base, headers: auth });
  const third = await oazapfts.placeOrder(id, 't', 'oazapfts', order, { rush: true });
  answers.push(third.status, third.status === 201 ? (third.data as oazapfts.Placed).total : third);
  await oazapfts.search({ ...lists, ...texts, ...objects });
  await oazapfts.upload('oazapfts', form());

  const fetching = createClient<paths>({ baseUrl: base });
  answers.push((await fetching.GET('/search', { params: { query: { ...lists, ...texts, ...objects } } })).data?.ok);

  OpenAPI.BASE = base;
  OpenAPI.TOKEN = 'ann';
  answers.push('ok' in (await DefaultService.search(objects.box, objects.labels, objects.pay, objects.part, texts.deep, texts.points, texts.matrix, lists.tags, lists.levels, lists.price)));
  const swagger = new Api({ baseUrl: base, baseApiParams: { headers: auth } });
  answers.push((await swagger.search.search({ ...lists, ...texts, ...objects })).data.ok);
  console.log(JSON.stringify(answers));
}
void main();
`;

const OPTIONS = {
  compilerOptions: {
    ...{ strict: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler', types: ['node'] },
    ...{ lib: ['es2023', 'dom', 'dom.iterable'], skipLibCheck: true, noEmit: true },
  },
  include: ['out/**/*.ts', 'calls.ts'],
};

describe('generators of client libraries', () => {
  let folder: string;
  let served: Listening;
  const inFolder = async (command: string, ...args: string[]): Promise<string> => {
    const options = { cwd: folder, env: { ...process.env, BASE: served.url } };
    return (await run(join(folder, 'node_modules/.bin', command), args, options)).stdout;
  };

  beforeAll(async () => {
    const app = shop();
    served = await listen(app);
    folder = mkdtempSync(join(tmpdir(), 'bindonce-generators-'));
    const write = (name: string, text: string): void => {
      writeFileSync(join(folder, name), text);
    };
    write('package.json', '{ "private": true, "type": "module" }');
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'];
    await run('npm', ['install', ...flags, ...GENERATORS], { cwd: folder });
    write('api.json', JSON.stringify(documentOf(app)));
    const orval = (client: string, target: string): object => ({
      input: 'api.json',
      output: { client, target, baseUrl: served.url },
    });
    const clients = { fetch: orval('fetch', 'out/orval/api.ts'), zod: orval('zod', 'out/orval-zod/api.ts') };
    write('orval.config.cjs', `module.exports = ${JSON.stringify(clients)}`);
    write('tsconfig.json', JSON.stringify(OPTIONS));
    write('calls.ts', CALLS);
    await inFolder('openapi-typescript', 'api.json', '-o', 'out/openapi-typescript.ts');
    await inFolder('openapi-ts', '-i', 'api.json', '-o', 'out/hey-api', '-c', '@hey-api/client-fetch');
    await inFolder('orval', '--config', 'orval.config.cjs');
    await inFolder('oazapfts', 'api.json', 'out/oazapfts.ts');
    await inFolder('openapi', '--input', 'api.json', '--output', 'out/codegen');
    await inFolder('swagger-typescript-api', ...'generate -p api.json -o out/swagger -n api.ts --silent'.split(' '));
  }, 400_000);

  afterAll(async () => {
    await served.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('make clients that compile, together with the calls below', async () => {
    const faults = await inFolder('tsc', '-p', '.').catch((error: unknown) => (error as { stdout: string }).stdout);
    expect(faults).toBe('');
  });

  it('make clients whose requests arrive', async () => {
    await inFolder('esbuild', 'calls.ts', '--bundle', '--platform=node', '--outfile=calls.cjs', '--format=cjs');
    const { stdout } = await run('node', ['calls.cjs'], { cwd: folder, env: { ...process.env, BASE: served.url } });
    expect(JSON.parse(stdout)).toEqual([201, 4.5, 400, 201, 4.5, true, 201, 4.5, true, true, true]);
    const order = {
      ...{ customerId: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', tenant: 't', caller: 'ann', rush: true, note: null },
      lines: [{ sku: 'tea', quantity: 2, price: '4.5' }],
      pay: { kind: 'card', number: '42', limit: '9007199254740993.1' },
      ...{ labels: { red: '1', 'a.b': '2' }, stock: { tea: [1, 2] }, at: '2026-11-28T10:00:00.000Z' },
      ...{ mail: 'ann@example.com', tree: { name: 'a', children: [{ name: 'b' }] }, count: '9007199254740993' },
    };
    expect(seen['orders']).toEqual(Array(3).fill(order));
    const lists = { tags: ['a', 'b,c'], levels: ['low', 'high'], price: '1.1' };
    const texts = { deep: { name: 'a', at: { x: 1 } }, points: [{ x: 1 }, { x: 2 }], matrix: [[1], [2, 3]] };
    const objects = { box: { city: 'Oslo', floor: 2 }, labels: { red: '1' }, pay: { kind: 'iban', iban: 'NO9' } };
    expect(seen['search']).toEqual(Array(6).fill({ ...lists, ...texts, ...objects, part: { a: 'b' } }));
    const form = { title: 'T', scan: 'hello', more: [1, 2], tags: ['a', 'b'], box: { city: 'Oslo' }, price: '0.1' };
    expect(seen['uploads']).toEqual(Array(3).fill({ ...form, points: [{ x: 1 }, { x: 2 }] }));
  });
});
