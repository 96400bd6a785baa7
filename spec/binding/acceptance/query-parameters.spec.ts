import type { Request } from 'express';
import {
  bindRequest,
  bool,
  configure,
  dateTime,
  dto,
  enumOf,
  field,
  fromQuery,
  guid,
  int,
  list,
  optional,
  queryParam,
  queryValue,
  string,
  valueParserFor,
  type AnyType,
  type ParseResult,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { bind } from '../../support/one-endpoint';
import { asking } from './without-dto';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

class Sku {
  constructor(readonly code: string) {}

  static tryParse(text: string | undefined): ParseResult<Sku> {
    return /^[A-Z]{3}\d$/.test(text ?? '') ? { success: true, value: new Sku(text ?? '') } : { success: false };
  }
}

type Parameter = readonly [name: string, value: string];
const get = (parameters: readonly Parameter[], path = '/') => ({
  method: 'GET',
  path: `${path}?${new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString()}`,
});

class Search extends dto({ text: string, page: int, since: optional(dateTime) }) {}
class DecoratedSearch {
  @field(string) text!: string;
  @queryParam(int) page!: number;
  @field(optional(dateTime)) since?: Date;
}

describe.each(expressVersions)('%s', (_framework, framework) => {
  it.each([
    ['dto({...})', Search],
    ['decorators', DecoratedSearch],
  ])('parameters bind to properties of the same name: %s', async (_notation, Dto) => {
    const { dto: bound } = await bind(
      Dto,
      get([
        ['Text', 'a & b'],
        ['page', '2'],
        ['since', '2026-11-21'],
        ['other', 'x'],
      ]),
      { framework },
    );
    expect(bound).toBeInstanceOf(Dto);
    expect(bound).toEqual({ text: 'a & b', page: 2, since: new Date('2026-11-21T00:00:00Z') });
  });
});

class Address extends dto({ street: string, zip: int }) {}
class DecoratedAddress {
  @field(string) street!: string;
  @field(int) zip!: number;
}
const HOME = { street: 'Ring 1', zip: 53111 };
const WORK = { street: 'Kai, 2', zip: 24103 };

class Filter extends dto({
  text: optional(string),
  open: optional(bool),
  color: optional(enumOf(['red', 'green'])),
  sizes: optional(list(int)),
  home: optional(Address),
  all: optional(list(Address)),
}) {}
class DecoratedFilter {
  @queryParam(optional(string)) text?: string;
  @queryParam(optional(bool)) open?: boolean;
  @queryParam(optional(enumOf(['red', 'green']))) color?: 'red' | 'green';
  @queryParam(optional(list(int))) sizes?: number[];
  @queryParam(optional(DecoratedAddress)) home?: DecoratedAddress;
  @queryParam(optional(list(DecoratedAddress))) all?: DecoratedAddress[];
}

describe.each([
  ['dto({...})', Filter, Address],
  ['decorators', DecoratedFilter, DecoratedAddress],
])('%s', (_notation, Dto, Nested) => {
  it.each<[string, readonly Parameter[], object]>([
    [
      'scalar, name=value',
      [
        ['text', 'Ada, A.'],
        ['open', 'true'],
        ['color', 'GREEN'],
      ],
      { text: 'Ada, A.', open: true, color: 'green' },
    ],
    [
      'collection, a repeated name',
      [
        ['sizes', '3'],
        ['sizes', '1'],
        ['sizes', '2'],
      ],
      { sizes: [3, 1, 2] },
    ],
    ['collection, a name that occurs once', [['sizes', '3']], { sizes: [3] }],
    [
      'collection, an indexed name',
      [
        ['sizes[2]', '2'],
        ['sizes[0]', '3'],
        ['sizes[1]', '1'],
      ],
      { sizes: [3, 1, 2] },
    ],
    ['collection, one comma-separated value', [['sizes', '3,1,2']], { sizes: [3, 1, 2] }],
    ['JSON object in one parameter', [['home', JSON.stringify(HOME)]], { home: HOME }],
    ['JSON array of scalars in one parameter', [['sizes', '[3, 1, 2]']], { sizes: [3, 1, 2] }],
    ['JSON array of objects in one parameter', [['all', JSON.stringify([HOME, WORK])]], { all: [HOME, WORK] }],
  ])('is read: %s', async (_shape, parameters, value) => {
    const { dto: bound } = await bind(Dto, get(parameters));
    expect(bound).toEqual(value);
    expect([bound?.home, ...(bound?.all ?? [])].every(one => one === undefined || one instanceof Nested)).toBe(true);
  });
});

it('brackets and commas may be escaped or not', async () => {
  for (const query of ['sizes[1]=1&sizes[0]=3', 'sizes%5B1%5D=1&sizes%5B0%5D=3', 'sizes=3,1', 'sizes=3%2C1'])
    expect((await bind(Filter, { method: 'GET', path: `/?${query}` })).dto).toEqual({ sizes: [3, 1] });
});

it('several values are taken as they are, commas included', async () => {
  class Names extends dto({ names: list(string) }) {}
  expect(
    (
      await bind(
        Names,
        get([
          ['names', 'Lovelace, Ada'],
          ['names', 'Hopper, Grace'],
        ]),
      )
    ).dto,
  ).toEqual({ names: ['Lovelace, Ada', 'Hopper, Grace'] });
});

it.each<[string, readonly Parameter[], string]>([
  [
    'a scalar that is sent twice',
    [
      ['open', 'true'],
      ['open', 'true'],
    ],
    'open',
  ],
  ['malformed JSON', [['home', '{"street":']], 'home'],
  ['JSON with an invalid value', [['home', '{"street":"x","zip":"y"}']], 'home.zip'],
])('%s is a failure', async (_what, parameters, name) => {
  expect(await bind(Filter, get(parameters))).toMatchObject({
    status: 400,
    dto: undefined,
    errors: [{ name, in: 'query' }],
  });
});

class Renamed extends dto({
  text: queryParam(string, { bindFrom: 'q' }),
  sizes: field(list(int), { bindFrom: 'size' }),
}) {}
class DecoratedRenamed {
  @queryParam(string, { bindFrom: 'q' }) text!: string;
  @field(list(int), { bindFrom: 'size' }) sizes!: number[];
}

it.each([
  ['dto({...})', Renamed],
  ['decorators', DecoratedRenamed],
])('bindFrom maps a differing name: %s', async (_notation, Dto) => {
  expect(
    (
      await bind(
        Dto,
        get([
          ['q', 'a'],
          ['text', 'b'],
          ['size[0]', '1'],
          ['size[1]', '2'],
          ['sizes', '3'],
        ]),
      )
    ).dto,
  ).toEqual({ text: 'a', sizes: [1, 2] });
  expect(
    (
      await bind(
        Dto,
        get([
          ['text', 'b'],
          ['size', '1'],
        ]),
      )
    ).errors,
  ).toMatchObject([{ name: 'q', in: 'query' }]);
});

class Sort extends dto({ by: string, down: optional(bool), then: list(string) }) {}
class Range extends dto({ from: int, to: int, within: optional(Address) }) {}
class Listing extends dto({ page: int, status: list(string), years: list(int), range: Range, sort: list(Sort) }) {}
class Find extends dto({ id: int, format: string, listing: fromQuery(Listing) }) {}

class DecoratedSort {
  @field(string) by!: string;
  @field(optional(bool)) down?: boolean;
  @field(list(string)) then!: string[];
}
class DecoratedRange {
  @field(int) from!: number;
  @field(int) to!: number;
  @field(optional(DecoratedAddress)) within?: DecoratedAddress;
}
class DecoratedListing {
  @field(int) page!: number;
  @field(list(string)) status!: string[];
  @field(list(int)) years!: number[];
  @field(DecoratedRange) range!: DecoratedRange;
  @field(list(DecoratedSort)) sort!: DecoratedSort[];
}
class DecoratedFind {
  @field(int) id!: number;
  @field(string) format!: string;
  @fromQuery(DecoratedListing) listing!: DecoratedListing;
}

it.each([
  ['dto({...})', Find, Sort],
  ['decorators', DecoratedFind, DecoratedSort],
])(
  'a nested dto is read from repeated names for scalars, an index to fix their order, dots for one object, an index for items: %s',
  async (_notation, Dto, Nested) => {
    const parameters: readonly Parameter[] = [
      ['format', 'csv'],
      ['Page', '2'],
      ['Status', 'open'],
      ['Status', 'new'],
      ['Years[1]', '1843'],
      ['Years[0]', '1842'],
      ['Range.From', '1'],
      ['Range.To', '9'],
      ['Range.Within.Street', 'Ring 1'],
      ['Range.Within.Zip', '53111'],
      ['Sort[1].By', 'age'],
      ['Sort[0].By', 'name'],
      ['Sort[0].Down', 'true'],
      ['Sort[0].Then', 'x'],
      ['Sort[0].Then', 'y'],
    ];
    const { dto: bound } = await bind(Dto, get(parameters, '/7'), { route: '/:id' });
    expect(bound).toEqual({
      id: 7,
      format: 'csv',
      listing: {
        page: 2,
        status: ['open', 'new'],
        years: [1842, 1843],
        range: { from: 1, to: 9, within: HOME },
        sort: [
          { by: 'name', down: true, then: ['x', 'y'] },
          { by: 'age', then: [] },
        ],
      },
    });
    expect(bound?.listing.sort.every(one => one instanceof Nested)).toBe(true);
  },
);

it('failures are reported under the names of the parameters', async () => {
  const { errors } = await bind(
    Find,
    get(
      [
        ['format', 'csv'],
        ['range.from', 'x'],
        ['sort[0].down', 'true'],
      ],
      '/7',
    ),
    { route: '/:id' },
  );
  expect(errors.map(({ name, in: source }) => [source, name])).toEqual([
    ['query', 'page'],
    ['query', 'range.from'],
    ['query', 'range.to'],
    ['query', 'sort[0].by'],
  ]);
});

it.each<[string, () => AnyType]>([
  ['two of them', () => class Twice extends dto({ one: fromQuery(Address), two: fromQuery(Address) }) {}],
  ['one below the root', () => class Outer extends dto({ inner: dto({ one: fromQuery(Address) }) }) {}],
  ['a scalar', () => class Scalar extends dto({ one: fromQuery(string) }) {}],
])(
  'exactly one root-level property is fromQuery, and it is an object: %s fails when the middleware is made',
  (_what, Dto) => {
    expect(() => bindRequest(Dto())).toThrow(/fromQuery/);
  },
);

describe.each(expressVersions)('without a dto, %s', (_framework, framework) => {
  const reading = (query: string, read: (req: Request) => unknown) => asking(framework, '/', `/?${query}`, read);

  it.each<[string, AnyType, string, unknown]>([
    ['an int', int, 'v=42', 42],
    ['a guid', guid, `V=${ID.toUpperCase()}`, ID],
    ['a class with tryParse', Sku, 'v=TEA1', { code: 'TEA1' }],
    ['repeated names', list(int), 'v=3&v=1', [3, 1]],
    ['indexed names', list(int), 'v[1]=1&v[0]=3', [3, 1]],
    ['one comma-separated value', list(int), 'v=3,1', [3, 1]],
    ['a JSON object', Address, `v=${encodeURIComponent(JSON.stringify(HOME))}`, HOME],
    ['a JSON array', list(Address), `v=${encodeURIComponent(JSON.stringify([HOME, WORK]))}`, [HOME, WORK]],
  ])('queryValue reads %s', async (_what, type, query, value) => {
    expect(await reading(query, req => queryValue(req, 'v', type))).toEqual({ value });
  });

  it.each<[string, AnyType, string, string]>([
    ['cannot be parsed', int, 'v=4x', 'The value "4x" is not a whole number from -2147483648 to 2147483647.'],
    ['is refused by its tryParse', Sku, 'v=tea', 'The value "tea" is not a Sku.'],
    ['is missing', int, 'w=4', 'This query parameter is required.'],
  ])(
    'a value that %s is answered with a validation failure, unless it is not required',
    async (_what, type, query, detail) => {
      expect(await reading(query, req => queryValue(req, 'v', type))).toEqual({
        status: 400,
        errors: [{ name: 'v', in: 'query', detail }],
      });
      expect(await reading(query, req => queryValue(req, 'v', type, { required: true }))).toMatchObject({
        status: 400,
      });
      expect(await reading(query, req => queryValue(req, 'v', type, { required: false }))).toEqual({
        value: 'nothing',
      });
    },
  );

  it('a value whose type has no parse method is answered with a validation failure, unless it is not required', async () => {
    class Unreadable {
      readonly code = 1;
    }
    expect(await reading('v=42', req => queryValue(req, 'v', Unreadable))).toMatchObject({
      status: 400,
      errors: [{ name: 'v', in: 'query' }],
    });
    expect(await reading('v=42', req => queryValue(req, 'v', Unreadable, { required: false }))).toEqual({
      value: 'nothing',
    });
  });

  it('the same holds for a class with a member of such a type, every time', async () => {
    class Unreadable {
      readonly code = 1;
    }
    class Outer extends dto({ name: optional(string), inner: optional(list(Unreadable)) }) {}
    for (let time = 0; time < 3; time++) {
      expect(await reading('v={"name":"x"}', req => queryValue(req, 'v', Outer))).toMatchObject({
        status: 400,
        errors: [{ name: 'v', in: 'query' }],
      });
      expect(await reading('v={"name":"x"}', req => queryValue(req, 'v', Outer, { required: false }))).toEqual({
        value: 'nothing',
      });
    }
  });

  it('queryValue of configure() uses the value parsers of the application', async () => {
    const { queryValue: read } = configure({
      binding: { valueParsers: [valueParserFor(Sku, text => ({ success: true, value: new Sku(`parsed ${text}`) }))] },
    });
    expect(await reading('v=x', req => read(req, 'v', Sku))).toEqual({ value: { code: 'parsed x' } });
  });
});
