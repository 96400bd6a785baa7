import { bindRequest, dto, field, fromQuery, int, lazy, list, optional, string } from '../../../lib';
import type { AnyType, DtoClass } from '../../../lib';
import { bind, outcome } from '../../support/one-endpoint';

interface TreeShape {
  name: string;
  children: TreeShape[];
}
class Tree extends dto({
  name: string,
  children: field(list(lazy((): DtoClass<TreeShape> => Tree)), { default: [] }),
}) {}
const tree = { name: 'a', children: [{ name: 'b', children: [{ name: 'c', children: [] }] }] };

it('a type that contains itself is read from JSON, as the whole body, in a property and in a list', async () => {
  const { dto: bound } = await bind(Tree, { json: tree });
  expect(bound).toEqual(tree);
  const [child] = bound?.children ?? [];
  expect([bound, child, child?.children[0]].map(node => node?.constructor)).toEqual([Tree, Tree, Tree]);
  expect(await outcome(dto({ root: Tree }), { json: { root: tree } })).toEqual({ root: tree });
  expect(await outcome(list(Tree), { json: [tree] })).toEqual([tree]);
});

it.each([
  ['32', 32, {}],
  ['as many as limits.depth says', 5, { limits: { depth: 5 } }],
])('it has levels up to the limit: %s', async (_levels, limit, options) => {
  class Chain extends dto({ n: int, next: optional(lazy((): AnyType => Chain)) }) {}
  const Asked = dto({ first: fromQuery(Chain) });
  const chain = (length: number): object => (length === 0 ? { n: 0 } : { n: length, next: chain(length - 1) });
  const path = (length: number): string =>
    `/?n=0${Array.from({ length }, (_, index) => `&${'next.'.repeat(index + 1)}n=${index}`).join('')}`;
  expect((await bind(Chain, { json: chain(limit) }, options)).status).toBe(200);
  expect((await bind(Asked, { path: path(limit) }, options)).status).toBe(200);
  const detail = `There are more than ${limit} levels of objects and lists inside each other.`;
  const { errors } = await bind(Chain, { json: chain(limit + 1) }, options);
  expect(errors).toMatchObject([{ in: 'json', pointer: '/next'.repeat(limit + 1), detail }]);
  const refused = [expect.stringMatching(new RegExp(`^query .*: The name has more than ${limit} levels.$`))];
  expect(await outcome(Asked, { path: path(limit + 1) }, options)).toEqual(refused);
});

it('the type is asked for once for each middleware, when that is made', () => {
  const asked = jest.fn(() => int);
  class Late extends dto({ v: lazy(asked) }) {}
  expect(asked).not.toHaveBeenCalled();
  bindRequest(Late);
  expect(asked).toHaveBeenCalledTimes(1);
});
