import express from 'express';
import { z } from 'zod';
import { dto, fromForm, fromQuery, int, list, optional, queryValue, string, type AnyType } from '../../../lib';
import { ask } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Query extends dto({ a: optional(string), b: optional(int), t: optional(list(string)) }) {}
class Nested extends dto({ all: fromQuery(Query), form: fromForm(Query) }) {}
const detail = 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.';

it.each<[string, string, string]>([
  ['a byte that is not UTF-8', 'a=caf%E9', 'a'],
  ['a lone percent sign', 'a=100%', 'a'],
  ['digits that are none', 'a=%zz', 'a'],
  ['half an escape', 'a=%4', 'a'],
  ['a surrogate', 'a=%ED%A0%80', 'a'],
  ['in a collection', 't[0]=x&t[1]=%FF', 't[1]'],
  ['in a name that nobody declared', 'x=%FF', 'x'],
  ['in a name', 'caf%E9=1', 'caf\ufffd'],
  ['in a name without a value', '%FF', '\ufffd'],
  ['in a name that is escaped otherwise, too', '%74%5B%5D=%FF', 't[]'],
])('percent-encoding that is not valid is a failure under its name: %s', async (_what, text, name) => {
  expect((await bind(Query, { method: 'GET', path: `/?b=1&${text}` })).errors).toEqual([{ name, in: 'query', detail }]);
  expect((await bind(Query, { form: `b=1&${text}` }, urlEncoded)).errors).toEqual([{ name, in: 'form', detail }]);
});

it.each<[string, AnyType, string]>([
  ['text', dto({ a: string }), 'a=%E9'],
  ['text of another case, sent twice', dto({ a: string }), 'A=%E9&a=%E9'],
  ['a number', dto({ a: int }), 'a=1%'],
  ['a list', dto({ a: list(string) }), 'a[0]=%E9'],
  ['a schema', dto({ a: z.string() }), 'a=%E9'],
  ['all names', dto({ all: fromQuery(dto({ a: string })) }), 'a=%E9'],
  ['all names of a schema', dto({ all: fromQuery(z.object({ a: z.string() })) }), 'a=%E9'],
  ['all names of a form', dto({ all: fromForm(dto({ a: string })) }), 'a=%E9'],
])('a required value that cannot be decoded is not missing, too: %s', async (what, Dto, text) => {
  const isForm = what.endsWith('form');
  const sent = isForm ? { form: text } : { path: `/?${text}` };
  const { errors } = await bind(Dto, sent, urlEncoded);
  expect(errors.map(one => [one.in, one.name.toLowerCase(), one.detail])).toEqual([
    [isForm ? 'form' : 'query', text.slice(0, text.indexOf('=')).toLowerCase(), detail],
  ]);
});

it('valid percent-encoding is decoded', async () => {
  expect((await bind(Query, { method: 'GET', path: '/?a=caf%25E9' })).dto).toEqual({ a: 'caf%E9' });
  expect((await bind(Query, { form: 'a=caf%C3%A9+100%25' }, urlEncoded)).dto).toEqual({ a: 'café 100%' });
});

it('all of them are in one answer, beside other failures, up to the limit', async () => {
  expect(
    (await bind(Nested, { form: 'a=%E9&b=x', path: '/?a=%E9&b=y' }, urlEncoded)).errors.map(
      ({ name, in: source }) => `${source} ${name}`,
    ),
  ).toEqual(['form a', 'form b', 'query a', 'query b']);
  const many = Array.from({ length: 10_000 }, (_, index) => `%FF${index}=%FF`).join('&');
  expect((await bind(Query, { form: many }, urlEncoded)).errors).toHaveLength(100);
});

it('queryValue refuses it, too', async () => {
  const app = express().get('/', (req, res) => {
    res.json(queryValue(req, 'a', string));
  });
  expect(await ask(app, { method: 'GET', path: '/?A=caf%E9' })).toMatchObject({
    status: 400,
    text: expect.stringContaining(`"detail":"${detail}"`) as string,
  });
});

it('values without an index come first: those of the name itself, then those of the name with brackets', async () => {
  for (const [text, t] of [
    ['t[]=b&t=c', ['c', 'b']],
    ['t=c&t[]=b', ['c', 'b']],
    ['t[]=1&T=2&t[]=3&t=4', ['2', '4', '1', '3']],
    ['t[1]=4&t[]=b&t[0]=3&t=c', ['c', 'b', '3', '4']],
  ] as const) {
    expect((await bind(Query, { method: 'GET', path: `/?${text}` })).dto).toEqual({ t });
    expect((await bind(Nested, { path: `/?${text}`, form: text }, urlEncoded)).dto).toEqual({
      all: { t },
      form: { t },
    });
    expect(
      (await bind(Query, { multipart: text.split('&').map(part => part.split('=') as [string, string]) }, urlEncoded))
        .dto,
    ).toEqual({ t });
  }
});
