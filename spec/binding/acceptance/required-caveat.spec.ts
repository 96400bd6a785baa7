import {
  dto,
  field,
  fromClaim,
  fromCookie,
  fromHeader,
  int,
  queryParam,
  routeParam,
  string,
  type DtoClass,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, type EndpointOptions } from '../../support/one-endpoint';

const note = field(string, { required: false });
const missing = [{ name: 'version', in: 'json', pointer: '/version', detail: 'The JSON body must have this value.' }];

/** With `jsonRequired`, the JSON reader itself asks for the value, like the `required` keyword of C#. */
class Keyword extends dto({ version: field(int, { jsonRequired: true }), note }) {}
class DecoratedKeyword {
  @field(int, { jsonRequired: true }) version!: number;
  @note note: string | undefined;
}

const elsewhere: readonly [string, Sent, Sent][] = [
  ['the route', { path: '/2', json: { note: 'n' } }, { path: '/2', json: { note: 'n', version: 1 } }],
  ['the query', { path: '/?version=2', json: { note: 'n' } }, { path: '/?version=2', json: { note: 'n', version: 1 } }],
];

describe.each(expressVersions)('jsonRequired (%s)', (_version, framework) => {
  const options = { framework, route: framework === expressVersions[0]?.[1] ? '/{:version}' : '/:version?' };

  it.each(elsewhere)(
    'a property that comes from %s fails where the JSON body lacks it',
    async (_source, lacking, having) => {
      for (const Dto of [Keyword, DecoratedKeyword]) {
        const { status, errors, dto: bound } = await bind<typeof Keyword>(Dto, lacking, options);
        expect({ status, errors, bound }).toEqual({ status: 400, errors: missing, bound: undefined });
        expect((await bind<typeof Keyword>(Dto, having, options)).dto).toEqual({ version: 2, note: 'n' });
      }
    },
  );

  const marked: readonly [string, DtoClass<{ version: number }>, Sent & Pick<EndpointOptions, 'user'>][] = [
    ['routeParam', class extends dto({ version: routeParam(int), note }) {}, { path: '/2' }],
    ['queryParam', class extends dto({ version: queryParam(int), note }) {}, { path: '/?version=2' }],
    ['fromHeader', class extends dto({ version: fromHeader(int), note }) {}, { headers: { version: '2' } }],
    ['fromCookie', class extends dto({ version: fromCookie(int), note }) {}, { headers: { Cookie: 'version=2' } }],
    ['fromClaim', class extends dto({ version: fromClaim(int), note }) {}, { user: { version: 2 } }],
  ];

  it.each(marked)(
    'a required property that says %s binds beside a JSON body without it',
    async (_attribute, Dto, { user, ...sent }) => {
      expect((await bind(Dto, { ...sent, json: { note: 'n' } }, { ...options, ...(user && { user }) })).dto).toEqual({
        version: 2,
        note: 'n',
      });
      expect((await bind(Dto, { json: { note: 'n', version: 2 } }, options)).status).toBe(400);
    },
  );

  it('a required property may come from any source beside a JSON body', async () => {
    class Plain extends dto({ version: int, note }) {}
    for (const [, lacking] of elsewhere)
      expect((await bind(Plain, lacking, options)).dto).toEqual({ version: 2, note: 'n' });
  });
});

it('jsonRequired asks for the exact JSON name', async () => {
  class Named extends dto({
    version: field(int, { jsonRequired: true, jsonPropertyName: '@v', bindFrom: 'b' }),
    note,
  }) {}
  class Policy extends dto({ schemaVersion: field(int, { jsonRequired: true }), note }) {}
  const { propertyNamingPolicy } = { propertyNamingPolicy: 'snake_case' } as const;
  expect((await bind(Named, { json: { version: 1, b: 1 }, path: '/?b=2' })).errors).toMatchObject([
    { name: '@v', in: 'json', pointer: '/@v' },
  ]);
  expect((await bind(Named, { json: { '@v': 1 } })).dto).toEqual({ version: 1 });
  expect((await bind(Policy, { json: { schemaVersion: 1 } }, { propertyNamingPolicy })).errors).toMatchObject([
    { name: 'schema_version', in: 'json' },
  ]);
  expect((await bind(Policy, { json: { schema_version: 1 } }, { propertyNamingPolicy })).dto).toEqual({
    schemaVersion: 1,
  });
});

describe('jsonRequired has no effect on a property that is limited to another source', () => {
  const options = { jsonRequired: true } as const;
  class Limited extends dto({
    id: routeParam(int, options),
    page: queryParam(int, options),
    version: fromHeader(int, options),
    sub: fromClaim(int, options),
    theme: fromCookie(string, options),
    note,
  }) {}

  it('beside a JSON body', async () => {
    const sent = { path: '/1?page=2', headers: { version: '3', Cookie: 'theme=dark' } };
    const { dto: bound } = await bind(Limited, { ...sent, json: { note: 'n' } }, { route: '/:id', user: { sub: 4 } });
    expect(bound).toEqual({ id: 1, page: 2, version: 3, sub: 4, theme: 'dark', note: 'n' });
  });
});

it('jsonRequired: the failure is reported together with all others', async () => {
  class Two extends dto({
    version: field(int, { jsonRequired: true }),
    size: field(int, { jsonRequired: true }),
    page: queryParam(int),
  }) {}
  expect(
    (await bind(Two, { path: '/?version=2&page=x', json: { size: 'x' } })).errors.map(
      ({ name, in: source }) => `${source} ${name}`,
    ),
  ).toEqual(['json version', 'json size', 'query page']);
});
