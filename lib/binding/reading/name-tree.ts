import { INVALID, type Invalid, type Location } from './location';
import { step } from './name-parts';

/** A value sent under a name: text, or a file. */
export type Sent = string | Express.Multer.File;

/** Values sent for a collection, and the index of each if the client has sent any. */
export interface Collected {
  readonly values: readonly Sent[];
  readonly indexes?: readonly number[];
}

/** An item of a collection, and its index in the names. */
export type IndexedItem = readonly [index: number, item: NameTree];

/** A name that continues below a node, and the index where it does. */
interface Deeper {
  readonly name: string;
  readonly from: number;
  readonly value: Sent;
  readonly mark: string | undefined;
  /** Position in the order of sending. */
  readonly order: number;
}

/**
 * The names of a query or a form as a tree: `items[0].sku` is `sku` below `0` below `items`, in any case. Names are
 * split lazily, as readers descend. Undeclared names are never split, so a client cannot make deep names expensive.
 */
export class NameTree {
  /** Values sent under the name that ends here. */
  readonly values: Sent[] = [];
  /** Position of each value in the order of sending. */
  private readonly orders: number[] = [];
  /** True if a value here is known to be one item of a collection. */
  private isItem = false;
  /** Undefined for a leaf: most names have one part. */
  private deeper: Deeper[] | undefined;
  private children: Map<string, NameTree> | undefined;
  private arrayness: boolean | undefined;
  private gaps: boolean | undefined;
  private items: readonly IndexedItem[] | undefined;
  private joint: readonly Sent[] | undefined;

  /** @param key the part of the name that leads here, spelled as it was first sent; undefined for the root. */
  private constructor(private readonly key?: string) {}

  /** @param pairs a value with the mark `item` is one item of a collection. */
  static of(pairs: Iterable<readonly [name: string, value: Sent, ...mark: readonly string[]]>): NameTree {
    const root = new NameTree();
    let order = 0;
    for (const [name, value, mark] of pairs) root.add(name, 0, value, order++, mark);
    return root;
  }

  static leaf(value: Sent): NameTree {
    const leaf = new NameTree();
    leaf.add('', 0, value, 0);
    return leaf;
  }

  /** True for the root, which holds all names. */
  get isRoot(): boolean {
    return this.key === undefined;
  }

  /** True if the names below are the items of a collection: `name[]`, `name[3]`. */
  get isArray(): boolean {
    return (this.arrayness ??= !this.isLeaf && this.below().every(([key]) => /^\d*$/.test(key)));
  }

  /** True if all that was sent below has an index, but not 0, 1, 2 and so on: the indexes may be ids. */
  get hasGaps(): boolean {
    return (this.gaps ??=
      this.isArray &&
      !this.isRoot &&
      this.unindexed.length === 0 &&
      this.inIndexOrder.some(([index], at) => index !== at));
  }

  /** True if no name continues below. */
  get isLeaf(): boolean {
    return this.deeper === undefined;
  }

  get isEmpty(): boolean {
    return this.isLeaf && this.values.length === 0;
  }

  /** True if one empty text is all that was sent, here or as the one item: `name=`, `name[]=`, `name[3]=`. */
  get holdsEmptyText(): boolean {
    if (this.values.length + (this.deeper?.length ?? 0) !== 1) return false;
    return this.values[0] === '' || [...this.open()].some(([key, { values }]) => /^\d*$/.test(key) && values[0] === '');
  }

  /** Returns the tree below a name, or below a path of names. */
  at(path: string, from = 0): NameTree | undefined {
    if (from >= path.length) return this;
    if (this.isLeaf) return undefined;
    const [key, next] = step(path, from);
    return this.open().get(key.toLowerCase())?.at(path, next);
  }

  /** Returns the trees below, each with its key as first sent. */
  below(): readonly (readonly [key: string, tree: NameTree])[] {
    return [...this.open().values()].map(tree => [tree.key ?? '', tree]);
  }

  /** The items `[3]`, in index order. */
  get inIndexOrder(): readonly IndexedItem[] {
    return (this.items ??= [...this.open()]
      .filter(([key]) => /^\d+$/.test(key))
      .map(([key, item]) => [Number(key), item] as const)
      // Sorting is stable: two values under one index stay in the order of sending.
      .sort(([a], [b]) => a - b));
  }

  /** Returns these items, or reports an index over the limit. Readers close up the gaps. */
  indexed(location: Location): readonly IndexedItem[] | Invalid {
    const { items: limit } = location.limits;
    const tooHigh = this.inIndexOrder.find(([index]) => index >= limit);
    if (tooHigh)
      return location.fail('index-too-high', `The index ${tooHigh[0]} is too high; ${limit} items are allowed.`, {
        count: tooHigh[0],
        limit,
      });
    return this.inIndexOrder;
  }

  /** Returns the tree below a part of a name. */
  child(key: string): NameTree | undefined {
    return this.isLeaf ? undefined : this.open().get(key.toLowerCase());
  }

  /** Values sent under the name itself and as `name[]`, in the order of sending. */
  get unindexed(): readonly Sent[] {
    const bare = this.isLeaf ? undefined : this.open().get('');
    if (!bare || bare.values.length === 0) return this.values;
    if (this.values.length === 0) return bare.values;
    return (this.joint ??= [this, bare]
      .flatMap(({ values, orders }) => values.map((value, at) => [orders[at] ?? 0, value] as const))
      .sort(([a], [b]) => a - b)
      .map(([, value]) => value));
  }

  /**
   * True if one value was sent, under the name itself: its text may hold several items. `name[]` and `name[0]` are one
   * item each.
   */
  get isOneValue(): boolean {
    return (
      this.values.length === 1 &&
      !this.isItem &&
      (this.isLeaf || this.below().every(([key, { values }]) => values.length === 0 || !/^\d*$/.test(key)))
    );
  }

  /** True if a name continues below `name[]`, which does not say which item it belongs to. */
  get hasNameless(): boolean {
    return !this.isLeaf && this.open().get('')?.isLeaf === false;
  }

  /** Values sent for a collection: under the name itself, as `name[]` and as `name[3]`. */
  collected(location: Location): Collected | Invalid {
    const indexed = this.isLeaf ? [] : this.indexed(location);
    if (indexed === INVALID) return INVALID;
    const plain = this.unindexed;
    if (indexed.length === 0) return { values: plain };
    return {
      values: [...plain, ...indexed.flatMap(([, item]) => item.values)],
      indexes: [...plain.keys(), ...indexed.flatMap(([index, item]) => item.values.map(() => index))],
    };
  }

  private add(name: string, from: number, value: Sent, order: number, mark?: string): void {
    if (from >= name.length) {
      this.values.push(value);
      this.orders.push(order);
      this.isItem ||= mark === 'item';
    } else (this.deeper ??= []).push({ name, from, value, order, mark });
  }

  private open(): ReadonlyMap<string, NameTree> {
    if (this.children) return this.children;
    const children = new Map<string, NameTree>();
    for (const { name, from, value, order, mark } of this.deeper ?? []) {
      const [key, next] = step(name, from);
      const anyCase = key.toLowerCase();
      let child = children.get(anyCase);
      if (!child) children.set(anyCase, (child = new NameTree(key)));
      child.add(name, next, value, order, mark);
    }
    return (this.children = children);
  }
}
