import express from 'express';
import {
  bindRequest,
  dto,
  formField,
  fromBody,
  fromCookie,
  fromHeader,
  int,
  optional,
  string,
  type AnyType,
} from '../../lib';
import { ask } from '../support/ask';
import { documentOf, operationOf, placesIn, type Operation } from '../support/described';
import { bind } from '../support/one-endpoint';

class Line extends dto({ sku: string }) {}

it('JSON that may be missing, beside a form that must be sent, is no body', async () => {
  const Dto = dto({ a: fromBody(optional(Line)), b: formField(int) });
  const app = express();
  app.post('/', bindRequest(Dto, { allowFormData: { urlEncoded: true } }), (_req, res) => void res.json(null));
  const post = documentOf(app).paths['/']?.['post'] as Operation;
  expect(placesIn(post)).toEqual(['multipart/form-data b', 'application/x-www-form-urlencoded b']);
  expect(post.requestBody?.required).toBe(true);
  const sent = [{ form: 'b=2' }, { json: { sku: 'tea' } }, {}];
  const statuses = sent.map(async one => (await ask(app, { method: 'POST', ...one })).status);
  expect(await Promise.all(statuses)).toEqual([200, 400, 400]);
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
