import { bool, dto, field, formField, fromClaim, fromCookie, fromHeader, hasPermission, int } from '../../../lib';
import { jsonField, optional, queryParam, routeParam, string } from '../../../lib';
import type { Property } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, failures, outcome, urlEncoded, type EndpointOptions } from '../../support/one-endpoint';

const common = ['json', 'form', 'route', 'query'] as const;
const all = [...common, 'claim', 'header', 'cookie'] as const;
type From = (typeof all)[number];
const subsetsOf = <T>(these: readonly T[]): T[][] =>
  these.reduce<T[][]>((sets, one) => [...sets, ...sets.map(set => [...set, one])], [[]]);
const loose = { required: false } as const;

/** Properties, each with the sources that it takes a value from. Of those that have one, the last wins. */
const rows: readonly (readonly [Property<string | undefined>, readonly From[]])[] = [
  [jsonField(string, loose), ['json']],
  [formField(string, loose), ['form']],
  [routeParam(string, loose), ['route']],
  [queryParam(string, loose), ['query']],
  [fromClaim(string, loose), [...common, 'claim']],
  [fromHeader(string, loose), [...common, 'header']],
  [fromCookie(string, loose), [...common, 'cookie']],
  [fromClaim(string, { ...loose, fallback: false }), ['claim']],
  [fromHeader(optional(string)), ['header']],
  [fromCookie(string, { ...loose, dontBind: ['query', 'form'] }), ['json', 'route', 'cookie']],
  ...subsetsOf(common).map(
    blocked => [field(string, { ...loose, dontBind: blocked }), common.filter(one => !blocked.includes(one))] as const,
  ),
];
const names = rows.map((_, index) => `v${index}`);
const valuesOf = (source: From): Record<string, string> => Object.fromEntries(names.map(name => [name, source]));
class Dto extends dto({
  ...Object.fromEntries(rows.map(([property], index) => [`v${index}`, property])),
  // With it, a dto takes every kind of body, whatever becomes of the others.
  note: field(string, loose),
}) {}

/** A request in which each of these sources has its own name under all names. */
function from(these: readonly From[]): [Sent, EndpointOptions] {
  const has = (source: From): boolean => these.includes(source);
  const path = has('route') ? '/route'.repeat(names.length) : '/';
  const cookie = names.map(name => `${name}=cookie`).join('; ');
  return [
    {
      path: `${path}${has('query') ? `?${new URLSearchParams(valuesOf('query')).toString()}` : ''}`,
      ...(has('json') && { json: valuesOf('json') }),
      ...(has('form') && { form: Object.entries(valuesOf('form')) }),
      headers: { ...(has('header') && valuesOf('header')), ...(has('cookie') && { Cookie: cookie }) },
    },
    {
      route: has('route') ? names.map(name => `/:${name}`).join('') : '/',
      ...(has('claim') && { user: valuesOf('claim') }),
    },
  ];
}

// A request has one body: JSON and a form never meet.
const requests = subsetsOf(all).filter(these => !(these.includes('json') && these.includes('form')));

it.each(expressVersions)(
  'the last of json, form, route, query, claim, header and cookie wins, of those that a property takes (%s)',
  async (_version, framework) => {
    for (const these of requests) {
      const [sent, options] = from(these);
      const { dto: bound } = await bind(Dto, sent, { ...urlEncoded, ...options, framework });
      const winners = rows.map(([, takes]) => these.filter(one => takes.includes(one)).at(-1));
      const expected = names.flatMap((name, index) => (winners[index] ? [[name, winners[index]]] : []));
      expect([these, bound]).toEqual([these, Object.fromEntries(expected)]);
    }
  },
);

it('a permission wins over everything', async () => {
  class May extends dto({ v: hasPermission('x', loose), other: field(bool, loose) }) {}
  const sent = { path: '/true?v=true&other=true', json: { v: true }, headers: { V: 'true', Cookie: 'v=true' } };
  const user = { v: 'true', permissions: [] };
  expect(await outcome(May, sent, { route: '/:v', user })).toEqual({ v: false, other: true });
});

it('a later value that cannot be read is a failure, not a reason to keep the earlier one', async () => {
  const sent = { path: '/?v=x', json: { v: true } };
  expect(await outcome(dto({ v: bool }), sent)).toEqual(['query v: The value "x" is not true or false.']);
});

it('dontBind blocks a source under every name that it has there', async () => {
  const named = { dontBind: ['json', 'query'], bindFrom: 'b', jsonPropertyName: 'j', required: false } as const;
  const sent = { json: { v: 1, b: 'x', j: 'x' }, path: '/?v=x&b=x&B=x&j=x&b[]=x' };
  expect(await outcome(dto({ v: field(string, named), note: field(string, loose) }), sent)).toEqual({});
});

it.each<[string, Property<string>, From]>([
  ['form', formField(string), 'form'],
  ['route', routeParam(string), 'route'],
  ['query', queryParam(string), 'query'],
  ['json', jsonField(string), 'json'],
  ['claim', fromClaim(string), 'claim'],
  ['header', fromHeader(string), 'header'],
  ['cookie', fromCookie(string), 'cookie'],
])('a required value of one source is missing if only the others have it: %s', async (_what, property, source) => {
  class Single extends dto({ v0: property, note: field(string, loose) }) {}
  for (const body of ['json', 'form'] as const) {
    const [sent, options] = from(all.filter(one => one !== source && (one === body || !/json|form/.test(one))));
    expect(await failures(Single, sent, { ...options })).toEqual([`${source} v0`]);
  }
});

/** With `jsonRequired`, the JSON reader itself asks for the value, like the `required` keyword of C#. */
describe('jsonRequired', () => {
  const must = { jsonRequired: true } as const;
  const options = { route: '/{:version}' };
  class DecoratedKeyword {
    @field(int, must) version!: number;
    @field(string, loose) note: string | undefined;
  }

  it.each(['/2', '/?version=2'])('a value at %s does not do where the JSON body lacks it', async path => {
    for (const Keyword of [dto({ version: field(int, must), note: field(string, loose) }), DecoratedKeyword]) {
      expect(await outcome(Keyword, { path, json: { note: 'n' } }, options)).toEqual([
        'json version: The JSON body must have this value.',
      ]);
      expect(await outcome(Keyword, { path, json: { version: 1 } }, options)).toEqual({ version: 2 });
    }
    // Without it, a required value may come from any source.
    expect(await outcome(dto({ version: int }), { path, json: { note: 'n' } }, options)).toEqual({ version: 2 });
  });

  it('has no effect on a property that is limited to another source', async () => {
    class Limited extends dto({
      version: routeParam(int, must),
      page: queryParam(int, must),
      size: fromHeader(int, must),
      sub: fromClaim(int, must),
      theme: fromCookie(string, must),
      note: field(string, loose),
    }) {}
    const sent = { path: '/1?page=2', headers: { size: '3', Cookie: 'theme=dark' }, json: { note: 'n' } };
    const value = { version: 1, page: 2, size: 3, sub: 4, theme: 'dark', note: 'n' };
    expect(await outcome(Limited, sent, { ...options, user: { sub: 4 } })).toEqual(value);
  });

  it('asks for the JSON name, in one answer with all other failures', async () => {
    class Named extends dto({
      version: field(int, { ...must, jsonPropertyName: '@v', bindFrom: 'b' }),
      rowSize: field(int, must),
      page: queryParam(int),
    }) {}
    const snake = { propertyNamingPolicy: 'snake_case' } as const;
    const sent = { path: '/?b=2&page=x', json: { version: 1, rowSize: 1 } };
    expect(await failures(Named, sent, snake)).toEqual(['json @v', 'json row_size', 'query page']);
  });
});
