import { dto, enumOf, fromClaim, fromQuery, guid, int, list, string, type AnyType } from '../../../lib';
import { z } from 'zod';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Line extends dto({ sku: string }) {}

/** What a claim is bound as, or the status of the refusal. */
async function claimed(type: AnyType, value: unknown): Promise<unknown> {
  class Caller extends dto({ v: fromClaim(type) }) {}
  const { status, dto: bound } = await bind(Caller, {}, { user: { v: value } });
  return status === 200 ? bound?.v : status;
}

/** What the same names are bound as in a query, in a form, and below fromQuery. */
async function named(type: AnyType, names: string): Promise<unknown[]> {
  class Flat extends dto({ v: type }) {}
  class Nested extends dto({ all: fromQuery(Flat) }) {}
  const path = `/?${names.replaceAll(/[^\w=&%+]/g, encodeURIComponent)}`;
  const outcomes = [await bind(Flat, { method: 'GET', path }), await bind(Flat, { form: path.slice(2) }, urlEncoded)];
  const { status, dto: nested } = await bind(Nested, { method: 'GET', path });
  return [
    ...outcomes.map(({ status, dto: bound }) => (status === 200 ? bound?.v : status)),
    status === 200 ? nested?.all.v : status,
  ];
}

const threeTimes = (value: unknown): unknown[] => [value, value, value];

describe('a claim that is an array is its elements', () => {
  it.each<[string, AnyType, unknown, unknown]>([
    ['one group with a comma', list(string), ['guests,admin'], ['guests,admin']],
    ['an LDAP name', list(string), ['cn=admin,dc=example'], ['cn=admin,dc=example']],
    ['one text in brackets', list(string), ['[dev] team'], ['[dev] team']],
    ['one text that is a JSON array', list(string), ['["a","b"]'], ['["a","b"]']],
    ['one text in braces', list(string), ['{a},{b}'], ['{a},{b}']],
    ['one empty text', list(string), [''], ['']],
    ['no element', list(string), [], []],
    ['null', list(string), [null], 400],
    ['null beside a text', list(string), ['a', null], 400],
    ['one number with a comma', list(int), ['1,2'], 400],
    ['a list of lists, whose one element is one text', list(list(string)), ['a,b'], [['a', 'b']]],
    ['a schema', z.array(z.string()), ['guests,admin'], ['guests,admin']],
    ['a list of schemas', list(z.string()), ['guests,admin'], ['guests,admin']],
    ['one element for a scalar', int, ['7'], 7],
  ])('%s', async (_what, type, value, expected) => {
    expect(await claimed(type, value)).toEqual(expected);
  });

  it('while one text is split at its commas, or read as JSON', async () => {
    expect([
      await claimed(list(string), 'a,b'),
      await claimed(list(string), '["a,b"]'),
      await claimed(list(int), '[1,2]'),
    ]).toEqual([['a', 'b'], ['a,b'], [1, 2]]);
  });
});

it.each<[string, AnyType, string, unknown]>([
  ['empty brackets', list(string), 'v[]=Oslo, Norway', ['Oslo, Norway']],
  ['an index', list(string), 'v[0]=a,b', ['a,b']],
  ['an index that is not the first', list(string), 'v[3]=a,b', ['a,b']],
  ['empty brackets, with JSON', list(string), 'v[]=["a","b"]', ['["a","b"]']],
  ['an index, with a number', list(int), 'v[0]=1,2', 400],
  ['empty brackets, with a JSON object', list(Line), 'v[]={"sku":"a"}', [{ sku: 'a' }]],
  ['an index, with a JSON object', list(Line), 'v[0]={"sku":"a"}', [{ sku: 'a' }]],
  ['an index, with two JSON objects', list(Line), 'v[0]={"sku":"a"},{"sku":"b"}', 400],
  ['an index, of a list in a list', list(list(int)), 'v[0]=1,2', [[1, 2]]],
  ['empty brackets, of a schema', z.array(z.string()), 'v[]=Oslo, Norway', ['Oslo, Norway']],
])('a name that says that it is a collection has one item: %s', async (_what, type, names, expected) => {
  expect(await named(type, names)).toEqual(threeTimes(expected));
});

describe('text that begins with a bracket and is not a JSON array', () => {
  it.each<[string, AnyType, string, unknown]>([
    ['is text in a list of strings', list(string), 'v=[WIP] fix', ['[WIP] fix']],
    ['is split at its commas like any other', list(string), 'v=[WIP] fix,[dev] team', ['[WIP] fix', '[dev] team']],
    ['is text in a list of schemas that take it', list(z.string()), 'v=[WIP] fix', ['[WIP] fix']],
    ['is a failure in a list of numbers', list(int), 'v=[1,2', 400],
    ['is a failure in a list of guids', list(guid), 'v=[x', 400],
    ['is text in a list of enums', list(enumOf(['[a]', 'b'])), 'v=[a]', ['[a]']],
    ['is a failure in a list of objects', list(Line), 'v=[x] y', 400],
  ])('%s: %s', async (_what, type, names, expected) => {
    expect(await named(type, names)).toEqual(threeTimes(expected));
  });
});
