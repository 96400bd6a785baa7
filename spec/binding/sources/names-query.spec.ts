import { dto, field, int, list, optional, queryParam, string } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { bind } from '../../support/one-endpoint';

class Search extends dto({
  text: field(string, { bindFrom: 'q' }),
  page: queryParam(int, { default: 1 }),
  sizes: optional(list(int)),
}) {}

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each([
    ['names in any case', '?Q=a&PAGE=2', { text: 'a', page: 2 }],
    ['bindFrom in place of the name', '?q=a&text=b', { text: 'a', page: 1 }],
    ['encoded names and values', '?%71=%C3%A9+%2B', { text: 'é +', page: 1 }],
    ['names that nobody declared', '?q=a&x=1&q[x]=2&page.x=3&__proto__=4&constructor=5', { text: 'a', page: 1 }],
    ['a name without a value', '?q&page=3', { text: '', page: 3 }],
    ['values with an equals sign', '?q=a=b==', { text: 'a=b==', page: 1 }],
    ['an escaped percent sign', '?q=100%25&page=2', { text: '100%', page: 2 }],
    ['separators without anything between', '?&&q=a&&', { text: 'a', page: 1 }],
  ])('%s: %s', async (_fact, query, value) => {
    expect((await bind(Search, { method: 'GET', path: `/${query}` }, { framework })).dto).toEqual(value);
  });

  it.each(['simple', 'extended', false])(
    "what the application's query parser (%s) makes of it does not matter",
    async parser => {
      const withParser = () => framework().set('query parser', parser);
      expect(
        (await bind(Search, { method: 'GET', path: '/?q=a&sizes[1]=2&sizes[0]=1' }, { framework: withParser })).dto,
      ).toEqual({ text: 'a', page: 1, sizes: [1, 2] });
    },
  );
});

it('a missing value of a GET is reported as a query parameter, under the name that is looked for', async () => {
  expect((await bind(Search, { method: 'GET' })).errors).toEqual([
    { name: 'q', in: 'query', detail: 'This query parameter is required.' },
  ]);
});
