import { Failures } from '../../../lib/binding/reading/failures';
import { resolveLimits } from '../../../lib/binding/reading/limits';
import { INVALID, Location } from '../../../lib/binding/reading/location';
import { NameTree, partsOf } from '../../../lib/binding/reading/name-tree';

/** Names as they come, each with its place in the row as its value. */
function tree(...names: string[]): NameTree {
  const root = new NameTree();
  for (const [index, name] of names.entries()) root.add({ name, parts: partsOf(name), value: String(index) });
  return root;
}
const failures = new Failures(resolveLimits({ items: 5 }));
const location = Location.of(failures, 'query', 't');
afterEach(() => {
  failures.list.length = 0;
});

describe('a path', () => {
  it.each<[string, string[], string, string[]]>([
    ['a name', ['a', 'b', 'a'], 'a', ['0', '2']],
    ['a name in any case', ['a', 'A', 'É', 'é'], 'É', ['2', '3']],
    ['a dot', ['a.b', 'a'], 'a.b', ['0']],
    ['brackets', ['a[b]', 'a.b', 'A[B]'], 'a.b', ['0', '1', '2']],
    ['an index', ['a[0].b', 'a.0.b', 'a[0][b]', 'a[1].b'], 'a[0].b', ['0', '1', '2']],
    ['an index that is spelled otherwise', ['a[0]', 'a[00]'], 'a[0]', ['0']],
    ['empty brackets', ['a[]', 'a[].b'], 'a[]', ['0']],
    ['a name that begins with a bracket is one part', ['[a]', '[a].b', '.a'], '[a]', ['0']],
    ['a name that begins with a dot, too', ['.a', '.a.b', 'a'], '.a', ['0']],
    ['brackets that do not close are one part', ['a[b', 'a[b.c'], 'a[b', ['0']],
    ['brackets in brackets are one part', ['a[b[c]]', 'a[b]'], 'a[b[c]]', ['0']],
    ['two dots are one part', ['a..b', 'a.b'], 'a..b', ['0']],
    ['names of objects', ['__proto__', 'a.__proto__', 'a[constructor]'], 'a.__proto__', ['1']],
  ])('finds what was sent under %s: %j at %j', (_what, names, path, values) => {
    expect(tree(...names).at(path)?.values).toEqual(values);
  });

  it.each(['b', 'a.c', 'a.b.c', 'a[0]', '__proto__', 'constructor', 'a.toString'])(
    'finds nothing where nothing was sent: %s',
    path => {
      expect(tree('a.b').at(path)).toBeUndefined();
    },
  );
});

describe('a name tree', () => {
  it('tells names apart by their case where they are the content', () => {
    const below = (names: NameTree): unknown => names.below(true).map(one => [one.key, one.values, one.below().length]);
    expect(below(tree('A', 'a', 'A', 'A.b'))).toEqual([
      ['A', ['0', '2'], 1],
      ['a', ['1'], 0],
    ]);
  });

  it('knows what goes on below it, under each key as it was sent first', () => {
    expect(
      tree('Items[0].Sku', 'items[0].SKU', 'items[x]', 'other')
        .at('ITEMS')
        ?.below()
        .map(({ key, values }) => [key, values]),
    ).toEqual([
      ['0', []],
      ['x', ['2']],
    ]);
    expect(
      tree('Items[0].Sku', 'items[0].SKU')
        .at('items[0]')
        ?.below()
        .map(({ key, values }) => [key, values]),
    ).toEqual([['Sku', ['0', '1']]]);
  });
});

describe('the items of a collection', () => {
  const itemsOf = (...names: string[]): unknown => {
    const items = tree(...names)
      .at('t')
      ?.items(location);
    return items === INVALID ? INVALID : items?.map(([index, item]) => [index, ...item.values]);
  };

  it.each<[string, string[], unknown[][]]>([
    [
      'index order',
      ['t[2]', 't[0]', 't[1]'],
      [
        [0, '1'],
        [1, '2'],
        [2, '0'],
      ],
    ],
    [
      'numbers, not text',
      ['t[4]', 't[1]', 't[04]'],
      [
        [1, '1'],
        [4, '0'],
        [4, '2'],
      ],
    ],
    [
      'both spellings',
      ['t.1', 't[0]'],
      [
        [0, '1'],
        [1, '0'],
      ],
    ],
    [
      'what has no index next',
      ['t[]', 't', 't[4]', 't[]', 't[2]'],
      [
        [0, '0'],
        [1, '1'],
        [2, '4'],
        [4, '2'],
        [5, '3'],
      ],
    ],
    ['what is no index left out', ['t[x]', 't[-1]', 't[1.5]', 't[1e0]', 't[ 1]', 't[٣]', 't[0]'], [[0, '6']]],
    ['up to the limit', ['t[4]'], [[4, '0']]],
  ])('are in order: %s', (_what, names, items) => {
    expect(itemsOf(...names)).toEqual(items);
  });

  it.each(['5', '4294967294', '9999999999', '10000000000', '00000000005', '9'.repeat(40)])(
    'are refused with an index beyond the limit: %s',
    index => {
      expect([itemsOf('t[0]', `t[${index}]`), failures.list.map(({ code, name }) => [code, name])]).toEqual([
        INVALID,
        [['index-too-high', 't']],
      ]);
    },
  );

  it('are refused where a name continues below one of no index', () => {
    expect([itemsOf('t[]', 't[].x'), failures.list.map(({ code }) => code)]).toEqual([INVALID, ['invalid']]);
  });
});

it.each<[string, number]>([
  ['a', 1],
  ['a.b', 2],
  ['a[0].b', 3],
  ['a[]', 2],
  ['', 0],
  ['a'.repeat(1_000), 1],
  [`a${'[0]'.repeat(1_000)}`, 1_001],
])('%p has so many parts: %p', (name, parts) => {
  expect(partsOf(name)).toHaveLength(parts);
});
