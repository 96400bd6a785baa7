import express from 'express';
import { bindRequest, dto, field, hasPermission, int, list, nullable, omit, optional, partial } from '../../../lib';
import { pick, queryParam, string } from '../../../lib';
import type { AnyType } from '../../../lib';
import type { Sent } from '../../support/ask';
import { documentOf } from '../../support/described';
import { failures, outcome } from '../../support/one-endpoint';
import { holds, type Equal } from '../../types/equal';

class Order extends dto({
  title: string,
  note: nullable(string),
  tags: list(string),
  page: queryParam(int, { default: 1 }),
  stars: field(optional(int)),
}) {
  static check(): void {
    throw new Error('not carried');
  }
  titleLength(): number {
    return this.title.length;
  }
}
class Decorated {
  @field(int) count = 7;
  @field(string) name!: string;
}
class Changed extends partial(Order) {}
class Titled extends pick(Order, ['title', 'page']) {}
class Rest extends omit(Order, ['title', 'note']) {}
const noInt = (text: string): string => `The value ${text} is not a whole number from -2147483648 to 2147483647.`;

it.each<[string, AnyType, Sent, unknown]>([
  ['partial of nothing has no key, not even a default', Changed, { json: {} }, {}],
  ['partial of a form without a list has no list', Changed, { form: 'title=a' }, { title: 'a' }],
  ['partial from a query', Changed, { path: '/?title=a&page=2' }, { title: 'a', page: 2 }],
  [
    'partial refuses null, also where it would be a missing value, unless the type is nullable',
    Changed,
    { json: { title: null, note: null, tags: null, stars: null } },
    [
      'json title: The value null is not a string.',
      'json tags: The value null is not a JSON array.',
      `json stars: ${noInt('null')}`,
    ],
  ],
  ['partial takes null for nullable', Changed, { json: { note: null } }, { note: null }],
  ['partial refuses what the type refuses', Changed, { json: { stars: 'x' } }, [`json stars: ${noInt('"x"')}`]],
  ['pick has the named ones, with defaults', Titled, { json: { title: 'a', note: 'b' } }, { title: 'a', page: 1 }],
  ['pick requires what was required', Titled, { json: {} }, ['json title: A value is required.']],
  ['omit has the others', Rest, { json: { title: 'a', tags: ['b'] } }, { page: 1, tags: ['b'] }],
  ['pick keeps an initialiser', pick(Decorated, ['count']), { json: {} }, { count: 7 }],
  ['partial drops it', partial(Decorated), { json: { name: 'a' } }, { name: 'a' }],
  ['omit of partial', omit(partial(Order), ['tags']), { json: { tags: 1, title: 'a' } }, { title: 'a' }],
  [
    'one in another dto',
    dto({ changes: list(partial(omit(Order, ['page']))) }),
    { json: { changes: [{ title: 'a' }, { stars: null }] } },
    [`json changes[1].stars: ${noInt('null')}`],
  ],
])('%s', async (_case, Dto, sent, expected) => {
  const bound = await outcome(Dto, sent);
  expect([bound, Object.keys(bound as object).sort()]).toEqual([expected, Object.keys(expected as object).sort()]);
});

it('a partial dto still requires its permissions', async () => {
  class Refund extends dto({ may: hasPermission('refund'), amount: int }) {}
  expect(await failures(partial(Refund), { json: {} })).toEqual(['permission refund']);
});

it('the API description has the properties that are left, and requires those that are required', () => {
  const app = express();
  const Both = dto({ changed: partial(omit(Order, ['page'])), titled: pick(Decorated, ['name']) });
  app.post('/', bindRequest(Both), () => undefined);
  const { schemas } = documentOf(app)['components'] as { schemas: object };
  expect(schemas).toMatchObject({
    PartialOmitOrder: { properties: { title: { type: 'string' }, stars: { type: 'integer' } } },
    PickDecorated: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  });
  expect(schemas).not.toHaveProperty('PartialOmitOrder.required');
});

it('the types are those of the properties, without methods', () => {
  holds<Equal<keyof Changed, 'title' | 'note' | 'tags' | 'page' | 'stars'>>();
  holds<Equal<Changed['title'], string | undefined>>();
  holds<Equal<Changed['note'], string | null | undefined>>();
  holds<Equal<Titled['title'], string>>();
  holds<Equal<keyof Rest, 'tags' | 'page' | 'stars'>>();
  expect(new Titled()).toEqual({ page: 1 });
});
