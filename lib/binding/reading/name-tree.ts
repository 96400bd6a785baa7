import { INVALID, type Invalid, type Location } from './location';

/** What can be sent under a name: text, or a file. */
export type Sent = string | Express.Multer.File;

/** A name that goes on below a branch, and from where in its text. */
interface Deeper {
  readonly name: string;
  readonly from: number;
  readonly value: Sent;
  /** Its place in the order of sending. */
  readonly order: number;
}

/**
 * The names of a query or a form as a tree: `items[0].sku` is `sku` below `0` below `items`, in any case. Names are taken
 * apart only where a reader goes: what nobody declared is never looked at, and however many levels a client makes up, they
 * cost it more than us.
 */
export class NameTree {
  /** What was sent under the name that ends here. */
  readonly values: Sent[] = [];
  /** The place of each value in the order of sending. */
  private readonly orders: number[] = [];
  private readonly deeper: Deeper[] = [];
  private children: Map<string, NameTree> | undefined;

  /** @param key the part of the name that leads here, as it was sent first; none for all of the names. */
  private constructor(private readonly key?: string) {}

  static of(pairs: Iterable<readonly [name: string, value: Sent, ...rest: unknown[]]>): NameTree {
    const root = new NameTree();
    let order = 0;
    for (const [name, value] of pairs) root.add(name, 0, value, order++);
    return root;
  }

  static leaf(value: Sent): NameTree {
    return NameTree.of([['', value]]);
  }

  /** True for the branch of all names. */
  get isRoot(): boolean {
    return this.key === undefined;
  }

  /** True when what goes on from here are the items of a collection: `name[]`, `name[3]`. */
  get isArray(): boolean {
    return !this.isLeaf && this.below().every(([key]) => /^\d*$/.test(key));
  }

  /** True when no name goes on from here. */
  get isLeaf(): boolean {
    return this.deeper.length === 0;
  }

  get isEmpty(): boolean {
    return this.isLeaf && this.values.length === 0;
  }

  /** True when nothing but one empty text was sent, here or below. */
  get holdsEmptyText(): boolean {
    const [first, second] = [...this.values, ...this.deeper.map(({ value }) => value)];
    return first === '' && second === undefined;
  }

  /** The branch of a name, or of a path of names. */
  at(path: string, from = 0): NameTree | undefined {
    if (from >= path.length) return this;
    if (this.isLeaf) return undefined;
    const [key, next] = step(path, from);
    return this.open().get(key.toLowerCase())?.at(path, next);
  }

  /** What goes on below, under each key as it was sent. */
  below(): readonly (readonly [key: string, tree: NameTree])[] {
    return [...this.open().values()].map(tree => [tree.key ?? '', tree]);
  }

  /** `[3]`, in index order; gaps are closed up by whoever reads them. */
  indexed(location: Location): readonly (readonly [index: number, item: NameTree])[] | Invalid {
    const items = [...this.open()]
      .filter(([key]) => /^\d+$/.test(key))
      .map(([key, item]) => [Number(key), item] as const);
    const { items: limit } = location.limits;
    const tooHigh = items.find(([index]) => index >= limit);
    if (tooHigh)
      return location.fail('index-too-high', `The index ${tooHigh[0]} is too high; ${limit} items are allowed.`, {
        count: tooHigh[0],
        limit,
      });
    // Sorting is stable: what was sent twice under one index stays in the order sent.
    return items.sort(([a], [b]) => a - b);
  }

  /** What was sent under the name itself and as `name[]`, in the order of sending. */
  get unindexed(): readonly Sent[] {
    const bare = this.isLeaf ? undefined : this.open().get('');
    if (!bare || bare.values.length === 0) return this.values;
    if (this.values.length === 0) return bare.values;
    return [this, bare]
      .flatMap(({ values, orders }) => values.map((value, at) => [orders[at] ?? 0, value] as const))
      .sort(([a], [b]) => a - b)
      .map(([, value]) => value);
  }

  /** True when one value was sent, under the name itself: it may hold several. `name[]` and `name[0]` are items, one by one. */
  get isOneValue(): boolean {
    return (
      this.values.length === 1 &&
      (this.isLeaf || this.below().every(([key, { values }]) => values.length === 0 || !/^\d*$/.test(key)))
    );
  }

  /** True when a name goes on below `name[]`: it does not say which item it belongs to. */
  get hasNameless(): boolean {
    return !this.isLeaf && this.open().get('')?.isLeaf === false;
  }

  /** What was sent for a collection: under the name itself, as `name[]` and as `name[3]`. */
  collected(location: Location): readonly Sent[] | Invalid {
    const indexed = this.isLeaf ? [] : this.indexed(location);
    return indexed === INVALID ? INVALID : [...this.unindexed, ...indexed.flatMap(([, item]) => item.values)];
  }

  private add(name: string, from: number, value: Sent, order: number): void {
    if (from >= name.length) {
      this.values.push(value);
      this.orders.push(order);
    } else this.deeper.push({ name, from, value, order });
  }

  private open(): ReadonlyMap<string, NameTree> {
    if (this.children) return this.children;
    const children = new Map<string, NameTree>();
    for (const { name, from, value, order } of this.deeper) {
      const [key, next] = step(name, from);
      let child = children.get(key.toLowerCase());
      if (!child) children.set(key.toLowerCase(), (child = new NameTree(key)));
      child.add(name, next, value, order);
    }
    return (this.children = children);
  }
}

/** `.name` or `[name]`, `[3]`, `[]`. */
const BELOW = /\.([^.[\]]+)|\[([^.[\]]*)\]/y;

/** The next part of a name, and where the one after it begins. A rest that is spelled like no path is one part. */
function step(name: string, from: number): readonly [key: string, next: number] {
  if (from === 0) {
    const end = name.search(/[.[\]]/);
    // The usual name has one part; nor does a name begin with a dot or a bracket.
    return end < 1 ? [name, name.length] : [name.slice(0, end), end];
  }
  BELOW.lastIndex = from;
  const [, property, index] = BELOW.exec(name) ?? [];
  const key = property ?? index;
  return key === undefined ? [name.slice(from), name.length] : [key, BELOW.lastIndex];
}

/** Levels that a name has, counted without taking it apart. */
export function levelsOf(name: string): number {
  let levels = 1;
  for (const character of name) if (character === '.' || character === '[') levels++;
  return levels;
}
