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

/** A value that was sent. It moves from node to node down the tree, as its name is split. */
interface Pair {
  readonly name: string;
  /** Index in the name where it continues below the node that holds the pair. */
  from: number;
  readonly value: Sent;
  readonly mark: string | undefined;
  /** Position in the order of sending. */
  readonly order: number;
}

const NONE: readonly never[] = [];

/**
 * The names of a query or a form as a tree: `items[0].sku` is `sku` below `0` below `items`, in any case. Names are
 * split lazily, as readers descend: undeclared names are never split, except by a schema, whose names are unknown.
 *
 * A form of 1 MiB can hold half a million levels that are read. So a node has arrays only for what it holds, and a map
 * only for several nodes below it.
 */
export class NameTree {
  /** Pairs whose names end here. */
  private ended: Pair[] | undefined;
  /** Pairs whose names continue below, until they are split. */
  private deeper: Pair[] | undefined;
  private children: readonly NameTree[] | undefined;
  private byKey: ReadonlyMap<string, NameTree> | undefined;
  private sent: readonly Sent[] | undefined;
  private arrayness: boolean | undefined;
  private gaps: boolean | undefined;
  private items: readonly IndexedItem[] | undefined;
  private joint: readonly Sent[] | undefined;

  /**
   * @param key the part of the name that leads here, spelled as it was first sent.
   * @param isRoot true for the root, which holds all names.
   */
  private constructor(
    readonly key: string,
    readonly isRoot: boolean,
  ) {}

  /** @param pairs a value with the mark `item` is one item of a collection. */
  static of(pairs: Iterable<readonly [name: string, value: Sent, ...mark: readonly string[]]>): NameTree {
    const root = new NameTree('', true);
    let order = 0;
    for (const [name, value, mark] of pairs) root.add({ name, from: 0, value, mark, order: order++ });
    return root;
  }

  static leaf(value: Sent): NameTree {
    return NameTree.of([['', value]]);
  }

  /** Values sent under the name that ends here. */
  get values(): readonly Sent[] {
    return this.ended ? (this.sent ??= this.ended.map(({ value }) => value)) : NONE;
  }

  /** The name that ends here, as it was first sent; undefined if none does. */
  get sentAs(): string | undefined {
    return this.ended?.[0]?.name;
  }

  /** True if the names below are the items of a collection: `name[]`, `name[3]`. */
  get isArray(): boolean {
    return (this.arrayness ??= !this.isLeaf && this.below().every(({ key }) => /^\d*$/.test(key)));
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
    return !this.deeper && !this.children;
  }

  get isEmpty(): boolean {
    return this.isLeaf && !this.ended;
  }

  /** True if one empty text is all that was sent, here or as the one item: `name=`, `name[]=`, `name[3]=`. */
  get holdsEmptyText(): boolean {
    const [only = this, another] = this.below();
    if (another || !only.isLeaf || only.values.length !== 1 || only.values[0] !== '') return false;
    return only === this || (!this.ended && /^\d*$/.test(only.key));
  }

  /** Returns the tree below a name, or below a path of names. */
  at(path: string, from = 0): NameTree | undefined {
    if (from >= path.length) return this;
    const [key, next] = step(path, from);
    return this.child(key)?.at(path, next);
  }

  /** Returns the trees below. */
  below(): readonly NameTree[] {
    return this.deeper ? this.split(this.deeper) : (this.children ?? NONE);
  }

  /** The items `[3]`, in index order. */
  get inIndexOrder(): readonly IndexedItem[] {
    return (this.items ??= this.below()
      .filter(({ key }) => /^\d+$/.test(key))
      .map(item => [Number(item.key), item] as const)
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
    const anyCase = key.toLowerCase();
    const [only, another] = this.below();
    if (another) return this.byKey?.get(anyCase);
    return only?.key.toLowerCase() === anyCase ? only : undefined;
  }

  /** Values sent under the name itself and as `name[]`, in the order of sending. */
  get unindexed(): readonly Sent[] {
    const bare = this.child('');
    if (!bare?.ended) return this.values;
    if (!this.ended) return bare.values;
    return (this.joint ??= [...this.ended, ...bare.ended].sort((a, b) => a.order - b.order).map(({ value }) => value));
  }

  /**
   * True if one value was sent, under the name itself: its text may hold several items. `name[]` and `name[0]` are one
   * item each.
   */
  get isOneValue(): boolean {
    const [only, another] = this.ended ?? NONE;
    if (!only || another || only.mark === 'item') return false;
    return this.below().every(({ key, ended }) => !ended || !/^\d*$/.test(key));
  }

  /** True if a name continues below `name[]`, which does not say which item it belongs to. */
  get hasNameless(): boolean {
    return this.child('')?.isLeaf === false;
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

  private add(pair: Pair): void {
    if (pair.from >= pair.name.length) this.ended = withOne(this.ended, pair);
    else this.deeper = withOne(this.deeper, pair);
  }

  private split(pairs: readonly Pair[]): readonly NameTree[] {
    const byKey = new Map<string, NameTree>();
    for (const pair of pairs) {
      const [key, next] = step(pair.name, pair.from);
      const anyCase = key.toLowerCase();
      let child = byKey.get(anyCase);
      if (!child) byKey.set(anyCase, (child = new NameTree(key, false)));
      pair.from = next;
      child.add(pair);
    }
    this.deeper = undefined;
    if (byKey.size > 1) this.byKey = byKey;
    return (this.children = [...byKey.values()]);
  }
}

/** Adds to an array, which is made with room for one: most nodes of deep names hold one pair. */
function withOne(pairs: Pair[] | undefined, pair: Pair): Pair[] {
  if (!pairs) return [pair];
  pairs.push(pair);
  return pairs;
}
