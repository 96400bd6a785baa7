import {
  bindRequest,
  dto,
  field,
  fromQuery,
  int,
  lazy,
  list,
  nullable,
  optional,
  queryParam,
  string,
  type AnyType,
  type DtoClass,
} from '../../../lib';
import { bind } from '../../support/one-endpoint';

interface TreeShape {
  name: string;
  children: TreeShape[];
}
interface ChainShape {
  n: number;
  next: ChainShape | undefined;
}

class DeclaredTree extends dto({
  name: string,
  children: field(list(lazy((): DtoClass<TreeShape> => DeclaredTree)), { default: [] }),
}) {}
class DeclaredChain extends dto({ n: int, next: optional(lazy((): DtoClass<ChainShape> => DeclaredChain)) }) {}

const tree = {
  name: 'a',
  children: [
    { name: 'b', children: [{ name: 'c', children: [] }] },
    { name: 'd', children: [] },
  ],
};

describe('a tree declared with', () => {
  it('is read from JSON, as the whole body, in a property and in a list', async () => {
    const { dto: bound } = await bind(DeclaredTree, { json: tree });
    expect(bound).toEqual(tree);
    expect([bound, bound?.children[0], bound?.children[0]?.children[0]].map(node => node?.constructor)).toEqual([
      DeclaredTree,
      DeclaredTree,
      DeclaredTree,
    ]);
    expect((await bind(class extends dto({ root: DeclaredTree }) {}, { json: { root: tree } })).dto).toEqual({
      root: tree,
    });
    expect((await bind(list(DeclaredTree), { json: [tree] })).dto).toEqual([tree]);
  });
});

describe('a chain declared with', () => {
  const chain = (length: number): object => (length === 0 ? { n: 0 } : { n: length, next: chain(length - 1) });
  const path = (length: number): string =>
    `/?n=0${Array.from({ length }, (_, index) => `&${'next.'.repeat(index + 1)}n=${index}`).join('')}`;
  const Asked = class extends dto({ first: fromQuery(DeclaredChain) }) {};

  it.each<[string, number, object]>([
    ['32', 32, {}],
    ['as many as limits.depth says', 5, { limits: { depth: 5 } }],
  ])('has levels up to the limit: %s', async (_levels, limit, options) => {
    expect((await bind(DeclaredChain, { json: chain(limit) }, options)).status).toBe(200);
    expect((await bind(Asked, { path: path(limit) }, options)).status).toBe(200);
    const { status, errors } = await bind(DeclaredChain, { json: chain(limit + 1) }, options);
    expect({ status, errors }).toMatchObject({
      status: 400,
      errors: [
        {
          in: 'json',
          pointer: '/next'.repeat(limit + 1),
          detail: `There are more than ${limit} levels of objects and lists inside each other.`,
        },
      ],
    });
    expect(await bind(Asked, { path: path(limit + 1) }, options)).toMatchObject({
      status: 400,
      errors: [{ in: 'query', detail: `The name has more than ${limit} levels.` }],
    });
  });
});

it('the type is asked for once for each middleware, when that is made', async () => {
  let asked = 0;
  class Late extends dto({
    v: lazy(() => {
      asked++;
      return int;
    }),
  }) {}
  expect(asked).toBe(0);
  bindRequest(Late);
  expect(asked).toBe(1);
  await bind(Late, { json: { v: 1 } });
  await bind(Late, { json: { v: 1 } });
  expect(asked).toBe(3);
});

describe('a declaration that cannot work is refused when the middleware is made', () => {
  const itself: AnyType = lazy((): AnyType => itself);
  const listOfItself: AnyType = list(lazy((): AnyType => listOfItself));
  const nullableItself: AnyType = nullable(list(lazy((): AnyType => nullableItself)));

  it.each<[string, AnyType]>([
    ['a type', itself],
    ['a list', listOfItself],
    ['a nullable list', nullableItself],
  ])('%s that is itself', (_what, type) => {
    class Node extends dto({ v: type }) {}
    const message = /Node\.v: this type contains itself and nothing else; put a dto between the two/;
    expect(() => bindRequest(Node)).toThrow(message);
    expect(() => bindRequest(class extends dto({ in: Node }) {})).toThrow(message);
    expect(() => bindRequest(list(type))).toThrow('contains itself');
  });

  it('a type that turns out to be optional when it is looked up', () => {
    class Node extends dto({ v: lazy(() => optional(int)) }) {}
    expect(() => bindRequest(Node)).toThrow(/Node\.v: lazy must not return an optional type: write optional\(lazy/);
  });

  it('a type that resolves to something else', () => {
    class Node extends dto({ v: lazy(() => undefined as unknown as AnyType) }) {}
    expect(() => bindRequest(Node)).toThrow(/Node\.v: undefined is not a type/);
  });

  it('a class that refers to itself and has a property for the root of a request only', () => {
    class Node {
      @queryParam(int) page = 1;
      @field(optional(lazy(() => Node))) next: Node | undefined;
    }
    expect(() => bindRequest(Node)).toThrow(/Node\.page: queryParam binds only at the root/);
  });
});
