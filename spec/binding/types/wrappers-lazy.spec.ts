import {
  bindRequest,
  dto,
  enumOf,
  field,
  fromForm,
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
import { bind, urlEncoded } from '../../support/one-endpoint';

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
class DecoratedTree {
  @field(string) name!: string;
  @field(list(lazy(() => DecoratedTree)), { default: [] }) children!: DecoratedTree[];
}
class DeclaredChain extends dto({ n: int, next: optional(lazy((): DtoClass<ChainShape> => DeclaredChain)) }) {}
class DecoratedChain {
  @field(int) n!: number;
  @field(optional(lazy(() => DecoratedChain))) next: DecoratedChain | undefined;
}

const trees: readonly [string, DtoClass<TreeShape>][] = [
  ['dto({...})', DeclaredTree],
  ['decorators', DecoratedTree],
];
const chains: readonly [string, DtoClass<ChainShape>][] = [
  ['dto({...})', DeclaredChain],
  ['decorators', DecoratedChain],
];

const tree = {
  name: 'a',
  children: [
    { name: 'b', children: [{ name: 'c', children: [] }] },
    { name: 'd', children: [] },
  ],
};
const names = [
  ['name', 'a'],
  ['children[1].name', 'd'],
  ['children[0].name', 'b'],
  ['children[0].children[0].name', 'c'],
] as const;
const query = names.map(pair => pair.join('=')).join('&');

describe.each(trees)('a tree declared with %s', (_how, Tree) => {
  const Asked = class extends dto({ root: fromQuery(Tree) }) {};
  const Sent = class extends dto({ root: fromForm(Tree) }) {};

  it('is read from JSON, as the whole body, in a property and in a list', async () => {
    const { dto: bound } = await bind(Tree, { json: tree });
    expect(bound).toEqual(tree);
    expect([bound, bound?.children[0], bound?.children[0]?.children[0]].map(node => node?.constructor)).toEqual([
      Tree,
      Tree,
      Tree,
    ]);
    expect((await bind(class extends dto({ root: Tree }) {}, { json: { root: tree } })).dto).toEqual({ root: tree });
    expect((await bind(list(Tree), { json: [tree] })).dto).toEqual([tree]);
  });

  it('is read from the names of a query and of a form', async () => {
    const { dto: bound } = await bind(Asked, { path: `/?${query}` });
    expect(bound).toEqual({ root: tree });
    expect(bound?.root.children[0]?.children[0]?.constructor).toBe(Tree);
    expect((await bind(Sent, { form: names }, urlEncoded)).dto).toEqual({ root: tree });
    expect((await bind(Sent, { multipart: names }, urlEncoded)).dto).toEqual({ root: tree });
  });

  it('has failures with their whole path', async () => {
    expect(
      (await bind(Tree, { json: { name: 'a', children: [{ name: 'b', children: [{ name: 1 }, {}] }] } })).errors,
    ).toEqual([
      {
        name: 'children[0].children[0].name',
        in: 'json',
        pointer: '/children/0/children/0/name',
        detail: 'The value 1 is not a string.',
      },
      {
        name: 'children[0].children[1].name',
        in: 'json',
        pointer: '/children/0/children/1/name',
        detail: 'A value is required.',
      },
    ]);
    expect(
      (await bind(Asked, { path: '/?name=a&children[0].children[0].x=1' })).errors.map(({ name }) => name),
    ).toEqual(['children[0].name', 'children[0].children[0].name']);
  });
});

describe.each(chains)('a chain declared with %s', (_how, Chain) => {
  const chain = (length: number): object => (length === 0 ? { n: 0 } : { n: length, next: chain(length - 1) });
  const path = (length: number): string =>
    `/?n=0${Array.from({ length }, (_, index) => `&${'next.'.repeat(index + 1)}n=${index}`).join('')}`;
  const Asked = class extends dto({ first: fromQuery(Chain) }) {};

  it('ends where nothing more was sent', async () => {
    expect((await bind(Chain, { json: chain(3) })).dto).toEqual(chain(3));
    expect((await bind(Asked, { path: path(2) })).dto).toEqual({ first: { n: 0, next: { n: 0, next: { n: 1 } } } });
    expect((await bind(Asked, { path: '/?n=1' })).dto).toEqual({ first: { n: 1 } });
  });

  it.each<[string, number, object]>([
    ['32', 32, {}],
    ['as many as limits.depth says', 5, { limits: { depth: 5 } }],
  ])('has levels up to the limit: %s', async (_levels, limit, options) => {
    expect((await bind(Chain, { json: chain(limit) }, options)).status).toBe(200);
    expect((await bind(Asked, { path: path(limit) }, options)).status).toBe(200);
    const { status, errors } = await bind(Chain, { json: chain(limit + 1) }, options);
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

it('types refer to each other', async () => {
  class Person {
    @field(string) name!: string;
    @field(optional(lazy(() => Company))) employer: Company | undefined;
  }
  class Company {
    @field(string) name!: string;
    @field(list(Person)) staff!: Person[];
  }
  const person = { name: 'p', employer: { name: 'c', staff: [{ name: 'q', employer: { name: 'd', staff: [] } }] } };
  const { dto: bound } = await bind(Person, { json: person });
  expect(bound).toEqual(person);
  expect([bound?.employer, bound?.employer?.staff[0]].map(one => one?.constructor)).toEqual([Company, Person]);
});

it('a type is named before it is declared', async () => {
  class Sized extends dto({ size: lazy(() => Size), pair: list(lazy(() => Size)) }) {}
  const Size = enumOf(['S', 'M']);
  expect((await bind(Sized, { json: { size: 'M' }, path: '/?pair=S,m' })).dto).toEqual({ size: 'M', pair: ['S', 'M'] });
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
