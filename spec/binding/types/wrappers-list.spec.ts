import { z } from 'zod';
import {
  bindRequest,
  dto,
  field,
  fromClaim,
  fromHeader,
  fromQuery,
  guid,
  int,
  list,
  nullable,
  optional,
  queryParam,
  string,
  type AnyType,
} from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';

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
    ['repeated', 'n=3&n=1&n=2', [3, 1, 2]],
    ['indexed, in index order', 'n[2]=3&n[0]=1&n[1]=2', [1, 2, 3]],
    ['indexed, gaps closed up', 'n[9]=3&n[4]=2&n[0]=1', [1, 2, 3]],
    [
      'indexed by more than one digit',
      Array.from({ length: 12 }, (_, index) => `n[${11 - index}]=${11 - index}`).join('&'),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    ],
    ['with empty brackets', 'n[]=1&n[]=2', [1, 2]],
    ['with encoded brackets', 'n%5B%5D=1&n%5B%5D=2', [1, 2]],
    ['comma-separated', 'n=1,2,3', [1, 2, 3]],
    ['comma-separated with an encoded comma', 'n=1%2C2', [1, 2]],
    ['one value', 'n=7', [7]],
    ['a JSON array', 'n=[1,2,3]', [1, 2, 3]],
    ['an empty JSON array', 'n=[]', []],
    ['in another case of its name', 'N=1&n=2', [1, 2]],
  ])('%s: %s', async (_shape, text, items) => {
    expect((await inQuery(text)).dto?.n).toEqual(items);
  });

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

it.each([
  ['?n=', 400, undefined],
  ['?t=', 200, ['']],
])('empty text where a list is required is one item of empty text: %s', async (query, expected, items) => {
  class Numbers extends dto({ n: list(int) }) {}
  class Texts extends dto({ t: list(string) }) {}
  const { status, dto: bound } = await bind<typeof Numbers | typeof Texts>(query === '?n=' ? Numbers : Texts, {
    method: 'GET',
    path: `/${query}`,
  });
  expect([status, bound && Object.values(bound)[0]]).toEqual([expected, items]);
});

it.each(['n', 't', 'lines'])('empty text where the list %s may be missing is no list', async name => {
  expect(await inQuery(`${name}=`)).toMatchObject({ status: 200, dto: {} });
});

describe('empty text of a property is an item where the list may be missing, too', () => {
  class Noted extends dto({ sku: string, note: optional(string) }) {}
  const schema = z.array(z.object({ sku: z.string(), note: z.string().optional() }));
  const lists: readonly (readonly [what: string, type: AnyType])[] = [
    ['a required list', list(Noted)],
    ['an optional list', optional(list(Noted))],
    ['an optional schema', optional(schema)],
  ];

  it.each([
    ...lists.map(([what, type]) => [what, dto({ all: fromQuery(dto({ lines: type })) })] as const),
    ['a list with a default', dto({ all: fromQuery(dto({ lines: field(list(Noted), { default: [] }) })) })] as const,
  ])('in a whole query: %s', async (_what, Dto) => {
    const { dto: bound } = await bind<AnyType>(Dto, { method: 'GET', path: '/?lines[0].sku=' });
    expect(bound).toEqual({ all: { lines: [{ sku: '' }] } });
    const { status, errors } = await bind<AnyType>(Dto, { method: 'GET', path: '/?lines[0][note]=' });
    expect([status, errors]).toMatchObject([400, [{ name: 'lines[0].sku' }]]);
  });

  it('in the query parameter of an optional schema', async () => {
    const Dto = dto({ lines: queryParam(optional(schema)) });
    expect((await bind(Dto, { method: 'GET', path: '/?lines[0][sku]=' })).dto).toEqual({ lines: [{ sku: '' }] });
    for (const name of ['lines', 'lines[]', 'lines[3]'])
      expect((await bind(Dto, { method: 'GET', path: `/?${name}=` })).dto).toEqual({});
  });
});

describe('a list elsewhere', () => {
  class Ids extends dto({ ids: list(guid) }) {}
  class Tags extends dto({ tags: fromHeader(list(string), { name: 'X-Tags' }) }) {}
  class Roles extends dto({
    roles: fromClaim(list(string)),
    lines: fromClaim(list(Line), { required: false, fallback: false }),
  }) {}
  const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

  it.each([
    [
      'repeated',
      [
        ['ids', ID],
        ['ids', ID],
      ],
    ],
    [
      'indexed',
      [
        ['ids[1]', ID],
        ['ids[0]', ID],
      ],
    ],
    [
      'with empty brackets',
      [
        ['ids[]', ID],
        ['IDS[]', ID],
      ],
    ],
    ['comma-separated', [['ids', `${ID},${ID}`]]],
    ['as a JSON array', [['ids', JSON.stringify([ID, ID])]]],
  ] as const)('in a form, %s, urlencoded and multipart', async (_shape, fields) => {
    expect((await bind(Ids, { form: fields }, urlEncoded)).dto).toEqual({ ids: [ID, ID] });
    expect((await bind(Ids, { multipart: fields }, urlEncoded)).dto).toEqual({ ids: [ID, ID] });
  });

  it.each([
    ['one line with commas, trimmed', 'a, b ,c', ['a', 'b', 'c']],
    ['two lines', ['a', 'b'], ['a', 'b']],
    ['two lines, commas kept', ['a, b', 'c'], ['a, b', 'c']],
    ['a JSON array', '["a, b","c"]', ['a, b', 'c']],
    ['one value', 'a', ['a']],
  ])('in a header: %s', async (_shape, lines, items) => {
    expect((await bind(Tags, { headers: { 'x-tags': lines } })).dto).toEqual({ tags: items });
  });

  it.each([
    ['several claims of one type', ['a', 'b'], ['a', 'b']],
    ['one comma-separated value', 'a,b', ['a', 'b']],
    ['JSON text', '["a","b"]', ['a', 'b']],
    ['one value', 'a', ['a']],
    ['no value', [], []],
  ])('in a claim: %s', async (_shape, roles, items) => {
    expect((await bind(Roles, {}, { user: { roles } })).dto?.roles).toEqual(items);
  });

  it.each([
    ['objects', LINES],
    ['JSON text', JSON_LINES],
    ['objects without brackets', JSON_LINES.slice(1, -1)],
    ['several JSON texts', LINES.map(line => JSON.stringify(line))],
  ])('of objects in a claim: %s', async (_shape, lines) => {
    expect((await bind(Roles, {}, { user: { roles: 'a', lines } })).dto?.lines).toEqual(LINES);
  });

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
