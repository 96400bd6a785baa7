import express, { type Express, type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { gzipSync } from 'node:zlib';
import {
  bindRequest,
  bool,
  dto,
  hasPermission,
  idempotency,
  int,
  list,
  optional,
  queryParam,
  string,
  type AnyType,
  type BindingOptions,
  type IdempotencyOptions,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { ask, type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Order extends dto({ sku: string, sizes: optional(list(int)), rush: queryParam(bool, { default: false }) }) {}

const ORDER = { sku: 'tea', sizes: [3, 1] };
const valid: Sent = { json: ORDER };

interface Endpoint {
  framework?: () => Express;
  idempotent?: IdempotencyOptions;
  binding?: BindingOptions;
  Dto?: AnyType;
  before?: RequestHandler;
  between?: RequestHandler;
}

const pass: RequestHandler = (_req, _res, next) => {
  next();
};

/** An endpoint that counts its runs, and sends one request after another under one key. */
async function oneKey(
  requests: readonly Sent[],
  {
    framework = express,
    idempotent = {},
    binding = urlEncoded,
    Dto = Order,
    before = pass,
    between = pass,
  }: Endpoint = {},
) {
  let runs = 0;
  const seen: unknown[] = [];
  const app = framework();
  app.post(
    '/',
    before,
    idempotency({ store: new Keyv(), ...idempotent }),
    between,
    bindRequest(Dto, binding),
    (req, res) => {
      seen.push(req.dto);
      res.status(201).json({ run: ++runs });
    },
  );
  const answers: string[] = [];
  for (const sent of requests) {
    const {
      status,
      headers: { 'idempotent-replayed': replayed },
      text,
    } = await ask(app, { ...sent, key: 'k' });
    answers.push(`${status}${replayed === undefined ? '' : ' replayed'}${status === 201 ? ` ${text}` : ''}`);
  }
  return { answers, seen, runs };
}

const refused: readonly [string, Sent, number][] = [
  ['a value that is not valid', { json: { sku: 7 } }, 400],
  ['a missing value', { json: {} }, 400],
  ['a bad query', { json: ORDER, path: '/?rush=x' }, 400],
  ['malformed JSON', { json: '{' }, 400],
  ['malformed multipart', { body: '--x\r\n', headers: { 'Content-Type': 'multipart/form-data; boundary=x' } }, 400],
  [
    'a file whose Content-Disposition cannot be read',
    {
      body: '--x\r\nContent-Disposition: form-data; name="f"; filename="a "b".pdf"\r\n\r\n1\r\n--x--\r\n',
      headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    },
    400,
  ],
  ['an unsupported body', { body: 'x', headers: { 'Content-Type': 'text/plain' } }, 415],
  ['an unknown coding', { json: ORDER, headers: { 'Content-Encoding': 'zip' } }, 415],
  ['a body that is too large', { json: { sku: 'x'.repeat(2_000_000) } }, 413],
];

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each(refused)(
    '%s is refused each time it comes, and a corrected request with the same key runs once',
    async (_what, sent, status) => {
      expect((await oneKey([sent, sent, valid, valid], { framework })).answers).toEqual([
        `${status}`,
        `${status}`,
        '201 {"run":1}',
        '201 replayed {"run":1}',
      ]);
    },
  );
});

it('the same request runs when the reason of its refusal is gone: an anonymous caller, a missing permission', async () => {
  class Guarded extends dto({ sku: string, may: hasPermission('orders:write') }) {}
  let asked = 0;
  const binding: BindingOptions = {
    allowAnonymous: false,
    claims: () => (++asked > 1 ? { sub: 'a', permissions: asked > 4 ? ['orders:write'] : [] } : undefined),
  };
  expect(
    (
      await oneKey([valid, valid, valid, valid], { Dto: Guarded, binding, idempotent: { scope: () => 'everyone' } })
    ).answers.map(answer => answer.slice(0, 12)),
  ).toEqual(['401', '400', '201 {"run":1', '201 replayed']);
});

it.each<[string, Sent]>([
  ['JSON', valid],
  ['JSON in chunks', { ...valid, headers: { 'Transfer-Encoding': 'chunked' } }],
  [
    'packed JSON',
    {
      body: gzipSync(JSON.stringify(ORDER)),
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    },
  ],
  [
    'an urlencoded form',
    {
      form: 'sku=tea&sizes[1]=1&sizes[0]=3',
    },
  ],
  [
    'a multipart form',
    {
      multipart: 'sku=tea&sizes[1]=1&sizes[0]=3',
    },
  ],
  ['a query', { path: `/?sku=tea&sizes=3,1` }],
])('the dto is the same as without idempotency: %s', async (_kind, sent) => {
  const { dto: alone } = await bind(Order, sent, urlEncoded);
  expect((await oneKey([sent], {})).seen).toEqual([alone]);
  expect(alone).toEqual({ ...ORDER, rush: false });
});

it.each<[string, { before?: RequestHandler; between?: RequestHandler }]>([
  ['express.json() before both', { before: express.json() }],
  ['express.json() between', { between: express.json() }],
  ['express.raw() before both', { before: express.raw({ type: () => true }) }],
  ['express.text() between', { between: express.text({ type: () => true }) }],
])('the dto is the same with %s', async (_where, parsers) => {
  const { seen, answers } = await oneKey([valid, valid, { json: { sku: 1 } }, { json: { sku: 'pot' } }], parsers);
  expect(seen).toEqual([
    { ...ORDER, rush: false },
    { sku: 'pot', rush: false },
  ]);
  expect(answers).toEqual(['201 {"run":1}', '201 replayed {"run":1}', '400', '201 {"run":2}']);
});

it('a body that must not take part in the key is bound all the same', async () => {
  const { answers, seen } = await oneKey([valid, { json: { sku: 'other' } }], {
    idempotent: { ignoreRequestBody: true },
  });
  expect([answers, seen]).toEqual([['201 {"run":1}', '201 replayed {"run":1}'], [{ ...ORDER, rush: false }]]);
});
