import {
  dto,
  enumOf,
  field,
  fromForm,
  fromHeader,
  fromQuery,
  hasPermission,
  int,
  list,
  optional,
  queryParam,
  routeParam,
  string,
} from '../../../lib';
import { type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Sort extends dto({ by: string, direction: enumOf(['asc', 'desc']) }) {}
class Range extends dto({ from: int, to: optional(int) }) {}
class Filter extends dto({
  text: field(string, { bindFrom: 'q', required: false }),
  price: optional(Range),
  sort: list(Sort),
  tags: list(string),
}) {}

const filter = (part: object = {}): object => ({ sort: [], tags: [], ...part });
const get = (query: string): Sent => ({ method: 'GET', path: `/${query}` });

describe('beside fromQuery', () => {
  class Beside extends dto({
    filter: fromQuery(Filter),
    id: routeParam(int),
    page: queryParam(int),
    q: optional(string),
    tags: optional(list(string)),
    tenant: fromHeader(string, { name: 'X-Tenant', required: false }),
    may: hasPermission('all', { required: false }),
  }) {}
  const options = { route: '/:id', ...urlEncoded };

  it('flat query parameters bind to other properties all the same', async () => {
    const { dto: bound } = await bind(
      Beside,
      get('7?page=2&q=x&tags=a&tags[1]=b&X-Tenant=q&tenant=acme&all=true&may=true&id=8&price.from=1'),
      options,
    );
    expect(bound).toEqual({
      filter: filter({ text: 'x', tags: ['a', 'b'], price: { from: 1 } }),
      id: 7,
      page: 2,
      q: 'x',
      tags: ['a', 'b'],
      tenant: 'acme',
      may: false,
    });
  });

  it('a form and a query can each have their object, of one class', async () => {
    class Move extends dto({ from: fromQuery(Range), to: fromForm(Range) }) {}
    expect((await bind(Move, { path: '/?from=1&to=2', form: 'FROM=3' }, urlEncoded)).dto).toEqual({
      from: { from: 1, to: 2 },
      to: { from: 3 },
    });
    expect((await bind(Move, { path: '/?to=2', form: 'to=x' }, urlEncoded)).errors).toEqual([
      { name: 'from', in: 'form', detail: 'A value is required.' },
      { name: 'to', in: 'form', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
      { name: 'from', in: 'query', detail: 'A value is required.' },
    ]);
  });
});
