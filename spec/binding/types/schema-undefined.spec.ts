import express from 'express';
import { z } from 'zod';
import {
  bindRequest,
  dto,
  field,
  formField,
  fromBody,
  fromClaim,
  fromCookie,
  fromForm,
  fromHeader,
  fromQuery,
  list,
  nullable,
  queryParam,
  routeParam,
  type AnyType,
} from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

const emptied = z.string().transform(text => (text === 'none' ? undefined : text));
const nothing = z.any().transform(() => undefined);

const ways: readonly (readonly [name: string, schema: AnyType])[] = [['a schema', emptied]];

describe.each(ways)('%s may make undefined of a value that was sent', (_how, schema) => {
  it.each<[string, AnyType, Sent, object]>([
    ['a query parameter', dto({ v: queryParam(schema) }), { path: '/?v=none' }, {}],
    ['a route parameter', dto({ v: routeParam(schema) }), { path: '/none' }, {}],
    ['a field', dto({ v: formField(schema) }), { form: 'v=none' }, {}],
    ['a header', dto({ v: fromHeader(schema) }), { headers: { v: 'none' } }, {}],
    ['a cookie', dto({ v: fromCookie(schema) }), { headers: { cookie: 'v=none' } }, {}],
    ['a claim', dto({ v: fromClaim(schema, { name: 'sub' }) }), {}, {}],
    ['JSON', dto({ v: field(schema) }), { json: { v: 'none' } }, {}],
    ['JSON null', dto({ v: field(nullable(schema)) }), { json: { v: null } }, { v: null }],
    ['JSON in a dto', dto({ in: dto({ v: schema }) }), { json: { in: { v: 'none' } } }, { in: {} }],
    ['a list', dto({ v: list(schema) }), { json: { v: ['none', 'a'] } }, { v: [undefined, 'a'] }],
    ['a list of texts', dto({ v: queryParam(list(schema)) }), { path: '/?v=none,a' }, { v: [undefined, 'a'] }],
    [
      'a list of indexes',
      dto({ q: fromQuery(dto({ v: list(schema) })) }),
      { path: '/?v[0]=none' },
      { q: { v: [undefined] } },
    ],
    [
      'a name below',
      dto({ q: fromQuery(dto({ in: dto({ v: schema }) })) }),
      { path: '/?in.v=none' },
      { q: { in: {} } },
    ],
    ['a name of a form', dto({ q: fromForm(dto({ v: schema })) }), { form: 'v=none' }, { q: {} }],
    ['the whole body', dto({ all: fromBody(schema) }), { json: '"none"' }, {}],
  ])('of %s', async (_what, Dto, sent, value) => {
    const { status, dto: bound } = await bind(Dto, sent, { route: '{/:v}', user: { sub: 'none' }, ...urlEncoded });
    expect([status, bound]).toEqual([200, value]);
    expect(Object.keys(bound as object)).toEqual(Object.keys(value));
  });

  it('and the property is missing if it was not sent', async () => {
    expect((await bind(dto({ v: queryParam(schema) }))).errors).toEqual([
      { name: 'v', in: 'query', detail: 'This query parameter is required.' },
    ]);
  });
});

it('a dto that is a schema may be undefined', async () => {
  const app = express().post('/', bindRequest(nothing), (req, res) => {
    res.json({ isUndefined: req.dto === undefined });
  });
  expect((await ask(app, { json: {} })).body).toEqual({ isUndefined: true });
});
