import {
  bindRequest,
  bool,
  dto,
  field,
  fromClaim,
  fromCookie,
  fromHeader,
  fromQuery,
  hasPermission,
  int,
  queryParam,
  string,
  type DtoClass,
  type PropertyOptions,
} from '../../../lib';
import { type Sent } from '../../support/ask';
import { bind, urlEncoded, type Outcome } from '../../support/one-endpoint';

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

  it('an empty value, or null in JSON, keeps the default or the initialiser', async () => {
    class Page extends dto({ size: field(int, { default: 20 }), from: field(int) }) {
      override from = 1;
    }
    expect((await bind(Page, { path: '/?size=&from=' })).dto).toEqual({ size: 20, from: 1 });
    expect((await bind(Page, { json: { size: null, from: null } })).dto).toEqual({ size: 20, from: 1 });
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
});
