import {
  bindRequest,
  dto,
  fromQuery,
  guid,
  int,
  list,
  nullable,
  optional,
  queryParam,
  string,
  type AnyType,
  enumOf,
  fromClaim,
} from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';
import { z } from 'zod';

class Line extends dto({ sku: string, quantity: int }) {}
class Lists extends dto({
  n: queryParam(list(int), { required: false }),
  t: queryParam(list(string), { required: false }),
  lines: queryParam(list(Line), { required: false }),
}) {}

const LINES = [
  { sku: 'a', quantity: 1 },
  { sku: 'b,c', quantity: 2 },
];
const JSON_LINES = JSON.stringify(LINES);
const inQuery = (text: string) => bind(Lists, { method: 'GET', path: `/?${text}` });

describe('a list in a query', () => {
  it.each([
    ['several values are taken as they are', 't=a,b&t=c', ['a,b', 'c']],
    ['a comma at the end belongs to the text', 't=a,', ['a,']],
    ['a comma at the start belongs to the text', 't=,a', [',a']],
    ['commas with nothing between belong to the text', 't=a,,b', ['a,,b']],
    ['items keep their white space', 't=a,+b', ['a', ' b']],
    ['JSON strings may hold commas', 't=["a,b","c"]', ['a,b', 'c']],
  ])('%s: ?%s', async (_fact, text, items) => {
    expect((await inQuery(text)).dto?.t).toEqual(items);
  });

  it.each([
    ['a JSON array', `lines=${encodeURIComponent(JSON_LINES)}`],
    ['objects without brackets, as Swagger UI sends them', `lines=${encodeURIComponent(JSON_LINES.slice(1, -1))}`],
    ['repeated objects', LINES.map(line => `lines=${encodeURIComponent(JSON.stringify(line))}`).join('&')],
    [
      'indexed objects',
      LINES.map((line, index) => `lines[${index}]=${encodeURIComponent(JSON.stringify(line))}`).join('&'),
    ],
  ])('of objects: %s', async (_shape, text) => {
    const lines = (await inQuery(text)).dto?.lines;
    expect(lines).toEqual(LINES);
    expect(lines?.[1]).toBeInstanceOf(Line);
  });

  it.each([
    [
      'n=1,x,3',
      [{ name: 'n[1]', in: 'query', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' }],
    ],
    [
      'n=1&n=x&n=y',
      [
        { name: 'n[1]', in: 'query', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
        { name: 'n[2]', in: 'query', detail: 'The value "y" is not a whole number from -2147483648 to 2147483647.' },
      ],
    ],
    [
      'n=[1,"2"]',
      [
        {
          name: 'n[1]',
          in: 'query',
          pointer: '/1',
          detail: 'The value "2" is not a whole number from -2147483648 to 2147483647.',
        },
      ],
    ],
    ['lines=[{', [{ name: 'lines', in: 'query', detail: 'The value "[{" is not a JSON text.' }]],
    [
      'lines={"sku":"a"},{"sku":1,"quantity":2}',
      [
        { name: 'lines[0].quantity', in: 'query', pointer: '/0/quantity', detail: 'A value is required.' },
        { name: 'lines[1].sku', in: 'query', pointer: '/1/sku', detail: 'The value 1 is not a string.' },
      ],
    ],
    ['lines={},x', [{ name: 'lines', in: 'query', detail: 'The value "{},x" is not a JSON text.' }]],
    ['lines=a', [{ name: 'lines', in: 'query', detail: 'The value "a" is not a JSON text.' }]],
  ])('?%s is refused, each failure under its place', async (text, failures) => {
    const { status, errors } = await inQuery(text.replace(/[{["].*/, encodeURIComponent));
    expect({ status, errors }).toEqual({ status: 400, errors: failures });
  });
});

describe('a failure has the name that the client sent', () => {
  class Flat extends dto({ n: optional(list(int)), lines: optional(list(Line)), pages: optional(list(list(int))) }) {}
  class Whole extends dto({ all: fromQuery(Flat) }) {}

  it.each<[string, string[]]>([
    ['n[1]=1&n[2]=x', ['n[2]']],
    ['n[5]=x&n[0]=1', ['n[5]']],
    ['n[5]=x', ['n[5]']],
    ['n[0]=x', ['n[0]']],
    ['n[7]=x&n[7]=1&n[7]=y', ['n[7]']],
    ['n[3]=x&n=1&n[]=y', ['n[3]', 'n[5]']],
    ['pages[4]=1,x', ['pages[4][1]']],
    ['lines[2]={"sku":"a"}', ['lines[2].quantity']],
    ['n[]=1&n[]=x', ['n[1]']],
    ['n[]=x', ['n']],
    ['n=x', ['n']],
  ])('?%s', async (query, names) => {
    const path = `/?${query.replace(/\{.*/, encodeURIComponent)}`;
    for (const Dto of [Flat, Whole])
      expect((await bind<AnyType>(Dto, { method: 'GET', path })).errors.map(({ name }) => name)).toEqual(names);
  });
});

describe('a list elsewhere', () => {
  class Ids extends dto({ ids: list(guid) }) {}

  it.each([
    [{}, '{…}'],
    ['1,2', '"1,2"'],
    [1, '1'],
    [true, 'true'],
  ])('in JSON it is an array and nothing else: not %j', async (ids, quoted) => {
    expect((await bind(Ids, { json: { ids } })).errors).toEqual([
      { name: 'ids', in: 'json', pointer: '/ids', detail: `The value ${quoted} is not a JSON array.` },
    ]);
  });
});

it.each<[string, AnyType]>([
  ['optional', optional(int)],
  ['nullable and optional', nullable(optional(int))],
])('a list of a type that is %s is refused when the middleware is made', (_what, type) => {
  class Sized extends dto({ sizes: list(type) }) {}
  expect(() => bindRequest(Sized)).toThrow(/^bindRequest: Sized\.sizes: a list has no missing items: write optional/);
});

describe('a list of one', () => {
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
});

it.each<[string, readonly (readonly string[])[]]>([
  ['n[0][]=a&n[]=b', [['a'], ['b']]],
  ['n[]=b&n[1][]=a', [['b'], ['a']]],
  ['n[0][]=a&n[0][]=b&n=c', [['a', 'b'], ['c']]],
  ['n[2][]=c&n[]=d&n[0]=a,b', [['a', 'b'], ['c'], ['d']]],
])('lists in a list keep their order: %s', async (query, n) => {
  class Lists extends dto({ n: list(list(string)) }) {}
  expect((await bind(Lists, { path: `/?${query}` })).dto).toEqual({ n });
  expect((await bind(Lists, { form: query }, urlEncoded)).dto).toEqual({ n });
});
