import { randomUUID } from 'node:crypto';
import express from 'express';
import {
  bindRequest,
  bool,
  dateTime,
  dto,
  field,
  fromClaim,
  fromCookie,
  fromHeader,
  fromQuery,
  hasPermission,
  int,
  list,
  openapi,
  optional,
  queryParam,
  string,
  type DtoClass,
  type PropertyOptions,
  type Source,
} from '../../../lib';
import { type Sent } from '../../support/ask';
import { bind, urlEncoded, type Outcome } from '../../support/one-endpoint';

/** The defaults of the query parameters of a dto in the API description. */
function described(Dto: DtoClass<unknown>): Record<string, unknown> {
  const app = express().get('/', bindRequest(Dto));
  const { parameters } = openapi(app, { info: { title: 't', version: '1' } }).paths['/']?.['get'] as {
    parameters: { name: string; schema: { default?: unknown } }[];
  };
  return Object.fromEntries(parameters.map(({ name, schema }) => [name, schema.default]));
}

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
    ['bindFrom names the form field', { form: [['USER_NAME', 'a']] }, 'a'],
    ['bindFrom names the route parameter', { path: '/a' }, 'a'],
  ])('%s', async (_fact, sent, value) => {
    expect((await bind(Renamed, sent, { ...urlEncoded, route: '/{:user_name}' })).dto?.userName).toBe(value);
  });

  it('two properties may read the same value', async () => {
    class Twice extends dto({ text: field(string, { bindFrom: 'v' }), number: field(int, { bindFrom: 'V' }) }) {}
    expect((await bind(Twice, { path: '/?v=7' })).dto).toEqual({ text: '7', number: 7 });
  });
});

describe('dontBind', () => {
  const everything: readonly [Source, Sent][] = [
    ['json', { json: { v: 'a' } }],
    ['form', { form: [['v', 'a']] }],
    ['route', { path: '/a' }],
    ['query', { path: '/?v=a' }],
  ];

  it.each(everything)('%s closes that source and no other', async (closed, sentThere) => {
    class Closed extends dto({ v: field(string, { dontBind: [closed], required: false }), other: optional(string) }) {}
    for (const [source, sent] of everything)
      expect((await bind(Closed, sent, { ...urlEncoded, route: '/{:v}' })).dto?.v).toBe(
        source === closed ? undefined : 'a',
      );
    class Required extends dto({ v: field(string, { dontBind: [closed] }), other: optional(string) }) {}
    expect((await bind(Required, sentThere, { ...urlEncoded, route: '/{:v}' })).errors).toMatchObject([{ name: 'v' }]);
  });

  it('closes several, and for a header the ones it falls back to', async () => {
    class Closed extends dto({
      v: field(string, { dontBind: ['query', 'route'] }),
      h: fromHeader(string, { required: false, dontBind: ['json', 'query'] }),
    }) {}
    expect(
      (await bind(Closed, { json: { v: 'json', h: 'json' }, path: '/route?v=query&h=query' }, { route: '/:v' })).dto,
    ).toEqual({ v: 'json' });
  });
});

describe('single sources', () => {
  it('block JSON, too, for a name that is also a JSON field', async () => {
    class Page extends dto({ page: queryParam(int, { required: false }), body: string }) {}
    expect((await bind(Page, { json: { page: 5, body: 'x' } })).dto).toEqual({ body: 'x' });
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

  const must = { required: true } as const;
  class Declared extends dto({
    claim: fromClaim(string, { ...must, default: 'public' }),
    header: fromHeader(int, { ...must, default: 42 }),
    cookie: fromCookie(int, { ...must, default: () => 42 }),
    permission: hasPermission('orders:read', must),
    query: queryParam(int, must),
    any: field(int, { ...must, default: 1 }),
    flag: queryParam(bool, { ...must, default: true }),
  }) {
    override permission = true;
    override query = 1;
  }
  class Decorated {
    @fromClaim(string, must) claim = 'public';
    @fromHeader(int, { ...must, default: 42 }) header!: number;
    @fromCookie(int, must) cookie = 42;
    @hasPermission('orders:read', must) permission = true;
    @queryParam(int, must) query = 1;
    @field(int, must) any = 1;
    @queryParam(bool, { ...must, default: true }) flag!: boolean;
  }

  it.each<[string, DtoClass<Declared>]>([
    ['dto({...})', Declared],
    ['decorators', Decorated],
  ])('required: true wins over a default and an initialiser: %s', async (_notation, Dto) => {
    const named = ({ errors }: Outcome<unknown>): string[] => errors.map(({ name }) => name).sort();
    const names = ['any', 'claim', 'cookie', 'flag', 'header', 'orders:read', 'query'];
    expect(named(await bind(Dto))).toEqual(names);
    class Outer extends dto({
      in: dto({ v: field(int, { ...must, default: 1 }) }),
      all: fromQuery(dto({ w: field(int, { ...must, default: 1 }) })),
    }) {}
    expect(named(await bind(Outer, { json: { in: {} } }))).toEqual(['in.v', 'w']);
    const sent = { path: '/?query=0&any=0&flag=false', headers: { header: '0', Cookie: 'cookie=0' } };
    const user = { claim: 'x', permissions: ['orders:read'] };
    expect((await bind(Dto, sent, { user })).dto).toEqual({
      claim: 'x',
      header: 0,
      cookie: 0,
      permission: true,
      query: 0,
      any: 0,
      flag: false,
    });
  });

  it('a default is no value to fall back on when what was sent is not valid', async () => {
    class One extends dto({ v: queryParam(int, { default: 7 }), on: queryParam(bool, { required: false }) }) {}
    expect((await bind(One, { path: '/?v=x&on=1' })).errors.map(({ name }) => name)).toEqual(['v', 'on']);
  });

  it('a default that can be changed is a copy for each request', async () => {
    class Tags extends dto({ tags: queryParam(list(string), { default: ['a'] }) }) {}
    (await bind(Tags)).dto?.tags.push('b');
    expect((await bind(Tags)).dto?.tags).toEqual(['a']);
  });

  it('an empty value, or null in JSON, keeps the default or the initialiser', async () => {
    class Page extends dto({ size: field(int, { default: 20 }), from: field(int) }) {
      override from = 1;
    }
    expect((await bind(Page, { path: '/?size=&from=' })).dto).toEqual({ size: 20, from: 1 });
    expect((await bind(Page, { json: { size: null, from: null } })).dto).toEqual({ size: 20, from: 1 });
  });

  it('an initialiser counts more than the option default, also in the API description', async () => {
    class Both {
      @queryParam(int, { default: 5 }) page = 6;
    }
    expect((await bind(Both)).dto).toEqual({ page: 6 });
    expect(described(Both)).toEqual({ page: 6 });
  });

  it('an initialiser that makes another value for each instance is not described', () => {
    class Page {
      @queryParam(string) id: string = randomUUID();
      @queryParam(dateTime) at = new Date();
    }
    expect(described(Page)).toEqual({ id: undefined, at: undefined });
  });

  it('a permission whose initialiser is no boolean is refused when the middleware is made', () => {
    class Asked {
      // The compiler refuses text here; other tools do not look.
      @hasPermission('orders:read') mayRead: unknown = 'no';
    }
    expect(() => bindRequest(Asked)).toThrow(
      'Asked.mayRead is "no" at first, but hasPermission makes it true or false. Declare it as a boolean',
    );
  });

  it('a property with a setter is bound through it', async () => {
    class Padded extends dto({ sku: field(string) }) {
      private own = '';
      override get sku(): string {
        return this.own;
      }
      override set sku(value: string) {
        this.own = `${value}!`;
      }
    }
    expect((await bind(Padded, { json: { sku: 'a' } })).dto).toMatchObject({ sku: 'a!' });
  });

  it('an initialiser in a class that extends dto({...}) is a default', async () => {
    class Sorted extends dto({ by: queryParam(string), size: int }) {
      override by = 'name';
    }
    expect((await bind(Sorted, { path: '/?size=3' })).dto).toEqual({ by: 'name', size: 3 });
    expect((await bind(Sorted, { path: '/?size=3&by=date' })).dto).toEqual({ by: 'date', size: 3 });
  });
});
