import { dto, fromHeader, fromQuery, int, list, optional, queryParam, string } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';
import { z } from 'zod';

class Address extends dto({ city: string }) {}
class Person extends dto({
  a: Address,
  all: list(Address),
  schema: queryParam(z.object({ city: z.string() })),
  n: int,
  maybe: optional(Address),
}) {}
const unread = (name: string, property: string): string =>
  `"${name}" was sent, but is read only where the endpoint declares fromQuery or fromForm; send "${property}" as JSON.`;

it.each<[string, Sent, string, string]>([
  [
    'in a query',
    { method: 'GET', path: '/?A.city=x&n.x=1&all[0].city=x&schema.city=x&maybe.city=x' },
    'This query parameter is required.',
    'A.city',
  ],
  [
    'in a form',
    {
      form: [
        ['a[city]', 'x'],
        ['all[0].city', 'x'],
        ['n[x]', '1'],
      ],
    },
    'A value is required.',
    'a[city]',
  ],
])('names below an object that is not taken apart are mentioned, %s', async (_where, sent, missing, name) => {
  const { status, errors } = await bind(Person, sent, urlEncoded);
  const details = Object.fromEntries(errors.map(error => [error.name, error.detail]));
  expect([status, details['a'], details['all'], details['n']]).toEqual([
    400,
    `${missing} ${unread(name, 'a')}`,
    `${missing} ${unread('all[0].city', 'all')}`,
    missing,
  ]);
  expect('maybe' in details).toBe(false);
});

it('a schema that is not taken apart says so, too', async () => {
  expect(
    (await bind(Person, { method: 'GET', path: '/?schema.city=x' })).errors.find(({ name }) => name === 'schema')
      ?.detail,
  ).toBe(`This query parameter is required. ${unread('schema.city', 'schema')}`);
});

it('with quoteValues: false the names are not repeated', async () => {
  const { errors } = await bind(Person, { method: 'GET', path: '/?a.hunter2=x' }, { quoteValues: false });
  expect(errors[0]?.detail).toBe(
    'This query parameter is required. A name below it was sent, but is read only where the endpoint declares fromQuery or fromForm; send "a" as JSON.',
  );
});

it('a required body without a query mentions no names', async () => {
  expect((await bind(Person, { json: {} })).errors.map(({ detail }) => detail)).toEqual([
    'A value is required.',
    'A value is required.',
    'This query parameter is required.',
    'A value is required.',
  ]);
});

it('too many query parameters are 414, and no body', async () => {
  const { status, problem } = await bind(
    class One extends dto({ n: int }) {},
    { method: 'GET', path: '/?a=1&b=2&c=3' },
    { limits: { fields: 2 } },
  );
  expect([status, problem]).toMatchObject([
    414,
    {
      type: 'urn:bindonce:query-too-large',
      title: 'URL has too many query parameters',
      detail: 'There are more than 2 query parameters.',
    },
  ]);
});

describe('a wrong entry of a list is named by its index, and quoted', () => {
  class Lists extends dto({ n: list(int), h: fromHeader(list(int), { required: false }) }) {}
  class Query extends dto({ all: fromQuery(dto({ n: list(int) })) }) {}
  const failing = { name: 'n[2]', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' };

  it.each<[string, Sent, object]>([
    ['JSON', { json: { n: [1, 2, 'x', 4] } }, { ...failing, pointer: '/n/2' }],
    ['JSON in text', { form: [['n', '[1,2,"x"]']] }, { ...failing, pointer: '/2' }],
    ['commas', { path: '/?n=1,2,x,4' }, failing],
    ['a repeated name', { path: '/?n=1&n=2&n=x' }, failing],
    [
      'brackets',
      {
        form: [
          ['n[]', '1'],
          ['n[]', '2'],
          ['n[]', 'x'],
        ],
      },
      failing,
    ],
    [
      'indexes',
      {
        form: [
          ['n[2]', 'x'],
          ['n[0]', '1'],
          ['n[1]', '2'],
        ],
      },
      failing,
    ],
    [
      'a header',
      { path: '/?n=1', headers: { h: '1, 2, x' } },
      { name: 'h[2]', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
    ],
    [
      'one value',
      { path: '/?n=x' },
      { name: 'n', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
    ],
  ])('%s', async (_shape, sent, error) => {
    const [first] = (await bind(Lists, sent, urlEncoded)).errors;
    expect(first).toEqual({ in: expect.any(String) as string, ...error });
  });

  it('below fromQuery', async () => {
    const { errors } = await bind(Query, { path: '/?n=1&n=2&n=x' });
    expect(errors).toMatchObject([failing]);
  });

  it('also where items are lists', async () => {
    const { errors } = await bind(class Grid extends dto({ n: list(list(int)) }) {}, { json: { n: [[1], [2, 'x']] } });
    expect(errors).toMatchObject([
      {
        name: 'n[1][1]',
        pointer: '/n/1/1',
        detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.',
      },
    ]);
  });
});
