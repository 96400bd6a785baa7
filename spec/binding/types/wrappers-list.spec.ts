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
} from '../../../lib';
import { bind } from '../../support/one-endpoint';

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
    ['n[3]=x&n=1&n[]=y', ['n[1]', 'n[3]']],
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
