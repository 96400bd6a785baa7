import express, { type RequestHandler } from 'express';
import { bindRequest, dto, field, formField, fromBody, int, optional, string, type AnyType } from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { documentOf, placesIn, type Operation } from '../../support/described';

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
