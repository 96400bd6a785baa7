import { dto, fromHeader, fromQuery, int, list } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

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
