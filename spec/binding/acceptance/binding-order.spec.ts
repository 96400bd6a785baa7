import {
  dto,
  field,
  fromClaim,
  fromHeader,
  hasPermission,
  int,
  list,
  optional,
  string,
  type Claims,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded, type EndpointOptions } from '../../support/one-endpoint';

type Source = 'json' | 'form' | 'route' | 'query' | 'claim' | 'header';

class Common extends dto({ v: field(string, { required: false }) }) {}
class Claim extends dto({ v: fromClaim(string, { required: false }) }) {}
class Header extends dto({ v: fromHeader(string, { required: false }) }) {}
class DecoratedCommon {
  @field(string, { required: false }) v?: string | undefined;
}
class DecoratedClaim {
  @fromClaim(string, { required: false }) v?: string | undefined;
}
class DecoratedHeader {
  @fromHeader(string, { required: false }) v?: string | undefined;
}

/** A request that has `v` in these sources, each time with the name of the source as its value. */
function having(sources: readonly Source[]): { sent: Sent; options: EndpointOptions } {
  const has = (source: Source): boolean => sources.includes(source);
  const user: Claims = { v: 'claim' };
  return {
    sent: {
      path: (has('route') ? '/route' : '/') + (has('query') ? '?v=query' : ''),
      ...(has('json') && { json: { v: 'json' } }),
      ...(has('form') && { form: [['v', 'form']] }),
      ...(has('header') && { headers: { V: 'header' } }),
    },
    options: { ...urlEncoded, route: has('route') ? '/:v' : '/', ...(has('claim') && { user }) },
  };
}

describe.each([
  ['dto({...})', Common, Claim, Header],
  ['decorators', DecoratedCommon, DecoratedClaim, DecoratedHeader],
])('%s', (_notation, CommonDto, ClaimDto, HeaderDto) => {
  // A request has one body, and a property one claim or one header: nobody can send all seven for one property.
  it.each([
    [1, 'json', CommonDto, []],
    [2, 'form', CommonDto, []],
    [3, 'route', CommonDto, ['json']],
    [3, 'route', CommonDto, ['form']],
    [4, 'query', CommonDto, ['json', 'route']],
    [4, 'query', CommonDto, ['form', 'route']],
    [5, 'claim', ClaimDto, ['json', 'route', 'query']],
    [5, 'claim', ClaimDto, ['form', 'route', 'query']],
    [6, 'header', HeaderDto, ['json', 'route', 'query']],
    [6, 'header', HeaderDto, ['form', 'route', 'query']],
  ] as const)(
    'a value from source %i, %s, is bound, and overwrites values of earlier sources',
    async (_number, last, Dto, before) => {
      for (const earlier of [[], ...before.map(one => [one]), before]) {
        const { sent, options } = having([...earlier, last]);
        expect((await bind(Dto, sent, options)).dto).toEqual({ v: last });
      }
    },
  );

  it('a property without fromClaim or fromHeader is bound from neither', async () => {
    const { sent, options } = having(['json', 'claim', 'header']);
    expect((await bind(CommonDto, sent, options)).dto).toEqual({ v: 'json' });
  });
});

class May extends dto({ v: hasPermission('orders:write', { required: false }) }) {}
class DecoratedMay {
  @hasPermission('orders:write', { required: false }) v!: boolean;
}

it.each([
  ['dto({...})', May],
  ['decorators', DecoratedMay],
])('a permission is bound last, and from nothing else: %s', async (_notation, Dto) => {
  const forged = (v: boolean): [Sent, EndpointOptions] => [
    { path: `/${v}?v=${v}`, json: { v }, headers: { V: `${v}` } },
    { route: '/:v' },
  ];
  const [asking, endpoint] = forged(true);
  expect((await bind(Dto, asking, { ...endpoint, user: { v: true, permissions: [] } })).dto).toEqual({ v: false });
  const [refusing] = forged(false);
  expect((await bind(Dto, refusing, { ...endpoint, user: { v: false, permissions: ['orders:write'] } })).dto).toEqual({
    v: true,
  });
});

it.each<['json' | 'form', Sent]>([
  ['json', { json: { a: 'x' } }],
  ['form', { form: [['a', 'x']] }],
])('the order of the failures is the order of the sources: %s', async (body, sent) => {
  // Declared the other way round: the order of the properties does not matter.
  class All extends dto({
    may: hasPermission('orders:write'),
    f: fromHeader(int),
    e: fromClaim(int),
    d: int,
    c: int,
    a: int,
  }) {}
  const { errors } = await bind(
    All,
    { ...sent, path: '/x?d=x', headers: { F: 'x' } },
    { ...urlEncoded, route: '/:c', user: { e: 'x' } },
  );
  expect(errors.map(({ in: source, name }) => [source, name])).toEqual([
    [body, 'a'],
    ['route', 'c'],
    ['query', 'd'],
    ['claim', 'e'],
    ['header', 'f'],
    ['permission', 'orders:write'],
  ]);
});

it('each property takes its value from the last source that has it', async () => {
  class Mixed extends dto({
    a: string,
    b: string,
    c: string,
    tags: list(int),
    e: fromClaim(string, { required: false }),
    f: fromHeader(string, { required: false }),
    none: optional(string),
  }) {}
  const json = { a: 'json', b: 'json', c: 'json', e: 'json', f: 'json', tags: [1, 2, 3] };
  const { dto: bound } = await bind(
    Mixed,
    { path: '/route?c=query&f=query&tags=4', json },
    { route: '/:b', user: { e: 'claim' } },
  );
  expect(bound).toEqual({ a: 'json', b: 'route', c: 'query', tags: [4], e: 'claim', f: 'query' });
});

class Order extends dto({ customerId: int, note: string }) {}
class DecoratedOrder {
  @field(int) customerId!: number;
  @field(string) note!: string;
}

describe.each(expressVersions)('%s', (_framework, framework) => {
  it.each([
    ['dto({...})', Order],
    ['decorators', DecoratedOrder],
  ])('a route parameter wins over a field of the JSON body: %s', async (_notation, Dto) => {
    expect(
      (await bind(Dto, { path: '/42', json: { customerId: 7, note: 'x' } }, { framework, route: '/:customerId' })).dto,
    ).toEqual({ customerId: 42, note: 'x' });
    expect((await bind(Dto, { json: { customerId: 7, note: 'x' } }, { framework })).dto).toEqual({
      customerId: 7,
      note: 'x',
    });
  });
});
