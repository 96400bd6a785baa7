import { bind, urlEncoded } from '../../support/one-endpoint';
import { dateTime, dto, field, fromForm, int, list, nullable, pick, queryParam, string, uri } from '../../../lib';
import type { AnyType, DtoClass, PropertyOptions } from '../../../lib';
import type { Sent } from '../../support/ask';
import { inspect } from 'node:util';
import { randomUUID } from 'node:crypto';
import { operationOf } from '../../support/described';

describe('names', () => {
  class Renamed extends dto({
    userName: field(string, { bindFrom: 'user_name', jsonPropertyName: 'user-name', required: false }),
  }) {}

  it.each<[string, Sent, string | undefined]>([
    ['jsonPropertyName names the JSON field', { json: { 'user-name': 'a' } }, 'a'],
    ['bindFrom does not', { json: { user_name: 'a' } }, undefined],
    ["the property's own name is not read from JSON then", { json: { userName: 'a' } }, undefined],
    ['bindFrom names the query parameter', { path: '/?user_name=a' }, 'a'],
    ['jsonPropertyName does not', { path: '/?user-name=a' }, undefined],
    ["the property's own name is not read from the query then", { path: '/?userName=a' }, undefined],
    ['bindFrom names the form field', { form: 'USER_NAME=a' }, 'a'],
    ['bindFrom names the route parameter', { path: '/a' }, 'a'],
  ])('%s', async (_fact, sent, value) => {
    expect((await bind(Renamed, sent, { ...urlEncoded, route: '/{:user_name}' })).dto?.userName).toBe(value);
  });
});

describe('required, default, initialiser', () => {
  it.each<[string, PropertyOptions, number, unknown]>([
    ['nothing said', {}, 400, undefined],
    ['required: true', { required: true }, 400, undefined],
    ['required: false', { required: false }, 200, undefined],
    ['a default', { default: 7 }, 200, 7],
    ['a default and required: false', { default: 7, required: false }, 200, 7],
    ['a default of 0', { default: 0 }, 200, 0],
    ['a default and required: true', { default: 7, required: true }, 400, undefined],
  ])('a value that is not sent: %s', async (_what, options, expected, value) => {
    class One extends dto({ v: field(int, options as { default: number }) }) {}
    for (const sent of [{}, { json: {} }, { path: '/?w=1' }]) {
      const { status, dto: bound } = await bind(One, sent);
      expect([status, bound?.v]).toEqual([expected, value]);
    }
  });

  it('an empty value, or null in JSON, keeps the default or the initialiser', async () => {
    class Page extends dto({ size: field(int, { default: 20 }), from: field(int) }) {
      override from = 1;
    }
    expect((await bind(Page, { path: '/?size=&from=' })).dto).toEqual({ size: 20, from: 1 });
    expect((await bind(Page, { json: { size: null, from: null } })).dto).toEqual({ size: 20, from: 1 });
  });
});

class Tagged extends dto({ tags: list(string) }) {}
const anything = { tryParse: () => ({ success: false }) as const };

const ways: readonly [how: string, declare: (type: AnyType, value: unknown) => DtoClass<{ v: unknown }>][] = [
  ['dto({...})', (type, value) => class extends dto({ v: field(type, { default: value }) }) {}],
  [
    'a decorator',
    (type, value) => {
      class Decorated {
        @field(type, { default: value }) v: unknown;
      }
      return Decorated;
    },
  ],
];

describe.each(ways)('a default is never shared between requests (%s)', (_how, declare) => {
  it.each<[what: string, type: AnyType, make: () => unknown, change: (value: never) => unknown]>([
    ['a URL', uri, () => new URL('https://a.example/'), (url: URL) => (url.host = 'b.example')],
    ['a Date', dateTime, () => new Date(0), (date: Date) => date.setTime(1)],
    ['an array', list(list(string)), () => [['a']], (all: string[][]) => all[0]?.push('b')],
    ['a plain object', anything, () => ({ in: { a: 1 } }), (object: { in: { a: number } }) => (object.in.a = 2)],
    [
      'what a function makes',
      Tagged,
      () => () => Object.assign(new Tagged(), { tags: ['a'] }),
      (tagged: Tagged) => tagged.tags.push('b'),
    ],
  ])('%s, at the root and in a nested dto', async (_what, type, make, change) => {
    const One = declare(type, make());
    class Outer extends dto({ in: One }) {}
    const values = [
      async () => (await bind(One, { json: {} })).dto?.v,
      async () => (await bind(Outer, { json: { in: {} } })).dto?.in.v,
    ];
    for (const value of values) {
      const before = inspect(await value());
      change((await value()) as never);
      expect(inspect(await value())).toBe(before);
    }
  });
});

/** The defaults of the properties of a body, as the document has them. */
async function defaultsOf(Dto: AnyType, mediaType = 'application/json'): Promise<Record<string, unknown>> {
  const { requestBody, schemas } = await operationOf(Dto, { options: { allowFormData: true } });
  const schema = requestBody?.content[mediaType]?.schema as { $ref?: string };
  const named = schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  const { properties } = named as { properties: Record<string, object> };
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, one]) => ('default' in one ? [[name, one.default]] : [])),
  );
}

describe('the default that the document states', () => {
  it('is the value of an initialiser, unless each instance has another one', async () => {
    class Order {
      @field(string) id: string = randomUUID();
      @field(dateTime) at = new Date();
      @field(int) quantity = 5;
      @field(list(string)) tags = ['a'];
      @field(dateTime, { default: new Date(0) }) from!: Date;
    }
    class Made extends dto({ until: field(dateTime, { default: new Date(0) }), by: string }) {
      override by = randomUUID();
    }
    expect(await defaultsOf(Order)).toEqual({ quantity: 5, tags: ['a'], from: '1970-01-01T00:00:00.000Z' });
    expect(await defaultsOf(Made)).toEqual({ until: '1970-01-01T00:00:00.000Z' });
  });

  it('is not what a function makes: that may be another value for each request', async () => {
    class Made extends dto({
      region: field(string, { default: () => 'eu' }),
      tags: field(list(string), { default: () => [] }),
    }) {}
    expect([await defaultsOf(Made), await defaultsOf(pick(Made, ['tags']))]).toEqual([{}, {}]);
  });

  it('is null where an initialiser is null, although the declaration has a default', async () => {
    class Both {
      @field(nullable(int), { default: 5 }) a: number | null = null;
    }
    expect(await defaultsOf(Both)).toEqual({ a: null });
  });

  it('is not null where values are text', async () => {
    class Filter extends dto({ a: field(nullable(int), { default: null }), b: field(nullable(int), { default: 1 }) }) {}
    expect(await defaultsOf(Filter)).toEqual({ a: null, b: 1 });
    expect(await defaultsOf(Filter, 'multipart/form-data')).toEqual({ b: 1 });
    expect(await defaultsOf(dto({ all: fromForm(Filter) }), 'multipart/form-data')).toEqual({ b: 1 });
    const { parameters } = await operationOf(dto({ q: queryParam(nullable(int), { default: null }) }));
    expect(parameters).toMatchObject([{ name: 'q', schema: { type: 'integer' } }]);
    expect(parameters?.[0]?.schema).not.toHaveProperty('default');
  });
});
