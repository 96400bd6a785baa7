import {
  dto,
  field,
  formField,
  fromBody,
  fromClaim,
  fromCookie,
  fromHeader,
  int,
  list,
  optional,
  queryParam,
  routeParam,
  string,
  type DtoClass,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded, type EndpointOptions } from '../../support/one-endpoint';

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

  it('so does one that says formField, in a dto that takes JSON bodies too', async () => {
    class InForm extends dto({ version: formField(int), note }) {}
    expect(
      (
        await bind(
          InForm,
          {
            form: [
              ['version', '2'],
              ['note', 'n'],
            ],
          },
          { ...options, ...urlEncoded },
        )
      ).dto,
    ).toEqual({ version: 2, note: 'n' });
    expect(
      (await bind(InForm, { json: { note: 'n', version: 2 } }, { ...options, ...urlEncoded })).errors,
    ).toMatchObject([{ name: 'version', in: 'form' }]);
  });

  it('a required property may come from any source beside a JSON body', async () => {
    class Plain extends dto({ version: int, note }) {}
    for (const [, lacking] of elsewhere)
      expect((await bind(Plain, lacking, options)).dto).toEqual({ version: 2, note: 'n' });
  });
});

it.each<[string, DtoClass<{ version: number }>]>([
  ['a default', class extends dto({ version: field(int, { jsonRequired: true, default: 1 }), note }) {}],
  [
    'an initialiser',
    class {
      @field(int, { jsonRequired: true }) version = 1;
      @note note: string | undefined;
    },
  ],
])('jsonRequired: %s does not replace a value in the JSON body', async (_what, Dto) => {
  expect((await bind(Dto, { json: { note: 'n' } })).errors).toEqual(missing);
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

it('jsonRequired does not apply to a property that dontBind limits to other sources', async () => {
  class Blocked extends dto({ version: field(int, { jsonRequired: true, dontBind: ['json'] }), note }) {}
  expect((await bind(Blocked, { path: '/?version=2', json: { note: 'n' } })).dto).toEqual({ version: 2, note: 'n' });
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
  class DecoratedLimited {
    @routeParam(int, options) id!: number;
    @queryParam(int, options) page!: number;
    @fromHeader(int, options) version!: number;
    @fromClaim(int, options) sub!: number;
    @fromCookie(string, options) theme!: string;
    @note note: string | undefined;
  }
  class LimitedForm extends dto({ title: formField(string, options), note }) {}
  class DecoratedForm {
    @formField(string, options) title!: string;
    @note note: string | undefined;
  }

  it.each<[string, typeof Limited | typeof DecoratedLimited]>([
    ['dto({...})', Limited],
    ['decorators', DecoratedLimited],
  ])('beside a JSON body: %s', async (_notation, Dto) => {
    const sent = { path: '/1?page=2', headers: { version: '3', Cookie: 'theme=dark' } };
    const { dto: bound } = await bind(Dto, { ...sent, json: { note: 'n' } }, { route: '/:id', user: { sub: 4 } });
    expect(bound).toEqual({ id: 1, page: 2, version: 3, sub: 4, theme: 'dark', note: 'n' });
  });

  it.each<[string, typeof LimitedForm | typeof DecoratedForm]>([
    ['dto({...})', LimitedForm],
    ['decorators', DecoratedForm],
  ])('in a form: %s', async (_notation, Dto) => {
    expect((await bind(Dto, { form: 'title=t&note=n' }, urlEncoded)).dto).toEqual({ title: 't', note: 'n' });
  });

  it('but on one whose fallback binds from JSON, too', async () => {
    class Fallback extends dto({ version: fromHeader(int, { required: false, jsonRequired: true }), note }) {}
    const headers = { version: '2' };
    expect((await bind(Fallback, { headers, json: { note: 'n' } })).errors).toEqual(missing);
    expect((await bind(Fallback, { headers, json: { version: 1 } })).dto).toEqual({ version: 2 });
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

describe('jsonRequired inside', () => {
  class Line extends dto({ sku: string, quantity: field(int, { jsonRequired: true, default: 1 }) }) {}
  class Order extends dto({ line: optional(Line), lines: optional(list(Line)) }) {}
  class Whole extends dto({ line: fromBody(Line) }) {}
  const line = { sku: 'tea' };
  const detail = 'The JSON body must have this value.';

  it.each<[string, Sent['json'], DtoClass<unknown> | ReturnType<typeof list>, string]>([
    ['a nested dto', { line }, Order, '/line/quantity'],
    ['an item of a list', { lines: [{ ...line, quantity: 1 }, line] }, Order, '/lines/1/quantity'],
    ['fromBody', line, Whole, '/quantity'],
    ['a list as the whole body', [line], list(Line), '/0/quantity'],
  ])('%s requires the value in the JSON, even with a default', async (_where, json, Dto, pointer) => {
    const { status, errors } = await bind(Dto, { json });
    expect({ status, errors }).toMatchObject({ status: 400, errors: [{ in: 'json', pointer, detail }] });
  });
});
