import express, { type RequestHandler } from 'express';
import {
  bindRequest,
  dto,
  field,
  formField,
  fromBody,
  fromCookie,
  fromHeader,
  int,
  optional,
  string,
  type AnyType,
} from '../../lib';
import { ask, type Sent } from '../support/ask';
import { documentOf, operationOf, placesIn, type Operation } from '../support/described';
import { bind } from '../support/one-endpoint';

class Line extends dto({ sku: string }) {}
const NOT_JSON = { dontBind: ['json'] } as const;
const NOT_FORM = { dontBind: ['form'] } as const;
const JSON_ONLY = { dontBind: ['form', 'route', 'query'] } as const;

it.each<[string, AnyType, string[], readonly [ok: Sent, ...refused: Sent[]]]>([
  [
    'a JSON body that must have a value, beside one that no JSON has',
    dto({ a: field(int, { jsonRequired: true }), b: field(int, NOT_JSON), c: int }),
    ['query b', 'application/json a', 'application/json c'],
    [
      { path: '/?b=2', json: { a: 1, c: 3 } },
      { path: '/?b=2', form: 'a=1&c=3' },
    ],
  ],
  [
    'JSON alone, beside one that no JSON has',
    dto({ a: field(int, JSON_ONLY), b: field(int, NOT_JSON) }),
    ['query b', 'application/json a'],
    [
      { path: '/?b=2', json: { a: 1 } },
      { path: '/?b=2', form: 'a=1' },
    ],
  ],
  [
    'a form or a query, beside JSON or a query',
    dto({ a: field(int, NOT_FORM), b: field(int, NOT_JSON) }),
    ['query a', 'multipart/form-data b', 'application/x-www-form-urlencoded b'],
    [{ path: '/?a=1', form: 'b=2' }, { form: 'b=2' }],
  ],
  [
    'JSON that may be missing, beside a form that must be sent',
    dto({ a: fromBody(optional(Line)), b: formField(int) }),
    ['multipart/form-data b', 'application/x-www-form-urlencoded b'],
    [{ form: 'b=2' }, { json: { sku: 'tea' } }, {}],
  ],
])('places the values of %s in bodies that requests can have', async (_what, Dto, places, [sent, ...refused]) => {
  const app = express();
  app.post('/', bindRequest(Dto, { allowFormData: { urlEncoded: true } }) as RequestHandler, (_req, res) => {
    res.json(null);
  });
  const post = documentOf(app).paths['/']?.['post'] as Operation;
  expect(placesIn(post)).toEqual(places);
  expect(post.requestBody?.required).toBe(true);
  const statusOf = async (one: Sent): Promise<number> => (await ask(app, { method: 'POST', ...one })).status;
  expect(await statusOf(sent)).toBe(200);
  for (const one of refused) expect(await statusOf(one)).toBe(400);
});

it.each<[string, AnyType, boolean]>([
  ['a header that the path may replace', dto({ v: fromHeader(int, { name: 'X-V', required: false }) }), true],
  ['the same, by another name', dto({ w: fromHeader(int, { name: 'X-V', required: false, bindFrom: 'V' }) }), true],
  ['a header that is not described', dto({ v: fromHeader(int, { name: 'Authorization', required: false }) }), true],
  ['a cookie that the path may replace', dto({ v: fromCookie(int, { required: false }) }), true],
  ['a header without fallback', dto({ v: fromHeader(int, { name: 'X-V', required: false, fallback: false }) }), false],
  ['a header that may be missing', dto({ v: fromHeader(optional(int), { name: 'X-V' }) }), false],
])('a path that names %s is described as the endpoint reads it', async (_what, Dto, isRead) => {
  const { parameters = [] } = await operationOf(Dto, { path: '/x/:v' });
  expect(parameters.filter(one => one.in === 'path')).toEqual([
    {
      name: 'v',
      in: 'path',
      required: true,
      schema: isRead ? { type: 'integer', format: 'int32' } : { type: 'string' },
    },
  ]);
  const route = '/x/:v';
  expect((await bind(Dto, { path: '/x/7' }, { route })).status).toBe(200);
  expect((await bind(Dto, { path: '/x/nope' }, { route })).status).toBe(isRead ? 400 : 200);
});
