import { dto, field, fromForm, fromQuery, int, list, optional, string } from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Range extends dto({ from: int, to: optional(int) }) {}
class Filter extends dto({
  status: string,
  q: field(string, { bindFrom: 'search', required: false }),
  price: optional(Range),
  tags: optional(list(string)),
  ranges: optional(list(Range)),
  internal: field(string, { dontBind: ['query', 'form'], required: false }),
}) {}
const get = (query: string) => ({ method: 'GET', path: `/?${query}` });

describe('an object that may be missing', () => {
  class Search extends dto({ filter: fromQuery(optional(Filter)), page: optional(int) }) {}
  class Post extends dto({ filter: fromForm(optional(Filter)) }) {}

  it.each([
    'page=2',
    'utm_source=x',
    'utm_source=x&page=2',
    'internal=x',
    'status.x=1',
    'price.x=1',
    'price[x]=1',
    'ranges.x=1',
    'ranges[x]=1',
    'filter.status=open',
    'q=tea',
  ])('is missing when none of its own names was sent: ?%s', async query => {
    const { status, dto: bound } = await bind(Search, get(query));
    expect([status, Object.hasOwn(bound ?? { filter: 1 }, 'filter')]).toEqual([200, false]);
  });

  it.each<[string, number, unknown]>([
    ['status=open', 200, { status: 'open' }],
    ['STATUS=open&page=2', 200, { status: 'open' }],
    ['status=', 200, { status: '' }],
    ['status=open&price.from=1', 200, { status: 'open', price: { from: 1 } }],
    ['search=tea', 400, undefined],
    ['price.from=1', 400, undefined],
    ['price={"from":1}', 400, undefined],
    ['tags=a', 400, undefined],
    ['tags[]=a', 400, undefined],
    ['tags[0]=a', 400, undefined],
    ['ranges[0].from=1', 400, undefined],
    ['price=', 400, undefined],
    ['tags=', 400, undefined],
  ])('is there, and asks for what it requires, when one of them was: ?%s', async (query, expected, filter) => {
    const { status, dto: bound, errors } = await bind(Search, get(query));
    expect([status, bound?.filter, errors.map(({ name }) => name)]).toEqual([
      expected,
      filter,
      expected === 200 ? [] : ['status'],
    ]);
  });

  it('is not asked for because of an undeclared field of a form', async () => {
    expect((await bind(Post, { form: '_csrf=x' }, urlEncoded)).dto).toEqual({});
    expect(
      (
        await bind(
          Post,
          {
            multipart: [
              ['_csrf', 'x'],
              ['photo', new File(['x'], 'a.png')],
            ],
          },
          urlEncoded,
        )
      ).dto,
    ).toEqual({});
    expect(
      (
        await bind(
          Post,
          {
            form: '_csrf=x&status=open',
          },
          urlEncoded,
        )
      ).dto,
    ).toEqual({ filter: { status: 'open' } });
  });
});
