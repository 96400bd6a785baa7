import type { Invalid, Location } from './location';

/** A value sent under a name: text, or a file. */
export type Sent = string | Express.Multer.File;

/** An item of a collection, and its index in the names. */
export type IndexedItem = readonly [index: number, item: NameTree];

/** A further part of a name: `.name`, `[name]`, `[3]` or `[]`. */
const BELOW = /\.([^.[\]]+)|\[([^.[\]]*)\]/y;

/** Returns the parts of a name: `items`, `0` and `sku`. A rest that is not spelled like a path is one part. */
export function partsOf(name: string): readonly string[] {
  const end = name.search(/[.[\]]/);
  // Most names have one part. A dot or bracket at the beginning is part of the name.
  if (end < 1) return name === '' ? [] : [name];
  const parts = [name.slice(0, end)];
  for (let from = end; from < name.length;) {
    BELOW.lastIndex = from;
    const [all = name.slice(from), property, index] = BELOW.exec(name) ?? [];
    parts.push(property ?? index ?? all);
    from += all.length;
  }
  return parts;
}

/** Counts the levels of a name without splitting it. */
export function levelsOf(name: string): number {
  let levels = 1;
  for (const character of name) if (character === '.' || character === '[') levels++;
  return levels;
}

/** Returns the first part of a name in lower case, because a name may be sent in any case. */
export function firstPart(name: string): string {
  const end = name.search(/[.[\]]/);
  return (end < 1 ? name : name.slice(0, end)).toLowerCase();
}

/** Returns true for a part that numbers an item: `[3]`, or `[]`. */
export const isIndex = (part: string): boolean => /^\d*$/.test(part);

const NONE: readonly Sent[] = [];

/** The names of a query or a form as a tree: `items[0].sku` is `sku` below `0` below `items`, in any case. */
export class NameTree {
  /** Values sent under the name that ends here. */
  values = NONE;
  /** The name that ends here, as it was first sent. */
  private sentAs = '';
  // A form of 1 MiB can hold half a million levels, so a node has a map only if it needs one.
  private children: Map<string, NameTree> | undefined;
  /** True if a value is one item of a collection, whatever its text is. */
  private holdsItem = false;
  /** What a property has taken: the values here, or whatever is below, too. */
  private taken: 'values' | 'all' | undefined;

  /** @param key the part of the name that leads here, spelled as it was first sent. */
  constructor(
    readonly key = '',
    readonly isRoot = false,
  ) {}

  /** Makes the tree of one name. */
  static leaf(values: readonly Sent[]): NameTree {
    const leaf = new NameTree();
    leaf.values = values;
    return leaf;
  }

  /** @param isItem true if the value is one item of a collection, as `name[]=value` is. */
  add(name: string, value: Sent, isItem = false): void {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- a loop takes no stack.
    let here: NameTree = this;
    for (const part of partsOf(name)) {
      const anyCase = part.toLowerCase();
      let below = here.children?.get(anyCase);
      if (!below) (here.children ??= new Map()).set(anyCase, (below = new NameTree(part)));
      here = below;
    }
    here.holdsItem ||= isItem;
    if (here.values.length > 0) (here.values as Sent[]).push(value);
    else [here.values, here.sentAs] = [[value], name];
  }

  /** True if no name continues below. */
  get isLeaf(): boolean {
    return this.children === undefined;
  }

  get isEmpty(): boolean {
    return this.isLeaf && this.values.length === 0;
  }

  /** Returns the trees below. */
  below(): readonly NameTree[] {
    return this.children ? [...this.children.values()] : [];
  }

  /** Returns the tree below a part of a name. */
  child(part: string): NameTree | undefined {
    return this.children?.get(part.toLowerCase());
  }

  /** Returns the tree below a name, which may have several parts. */
  at(name: string): NameTree | undefined {
    const below = this.child(name);
    if (below || !this.children) return below;
    return partsOf(name).reduce<NameTree | undefined>((tree, part) => tree?.child(part), this);
  }

  /** True if the names below are the items of a collection: `name[]`, `name[3]`. */
  get isArray(): boolean {
    return !this.isLeaf && this.below().every(({ key }) => isIndex(key));
  }

  /** True if one empty text is all that was sent, here or as the one item: `name=`, `name[]=`, `name[3]=`. */
  get holdsEmptyText(): boolean {
    const [only = this, another] = this.below();
    if (another || !only.isLeaf || only.values.length !== 1 || only.values[0] !== '') return false;
    return only === this || (this.values.length === 0 && isIndex(only.key));
  }

  /** Values sent under the name itself and as `name[]`. */
  get unindexed(): readonly Sent[] {
    return [...this.values, ...(this.child('')?.values ?? NONE)];
  }

  /** Returns the items `[3]` in index order, or reports an index over the limit. Readers close up the gaps. */
  indexed(location: Location): readonly IndexedItem[] | Invalid {
    if (this.isLeaf) return [];
    const { items: limit } = location.limits;
    const items = this.below()
      .filter(({ key }) => key !== '' && isIndex(key))
      .map((item): IndexedItem => [Number(item.key), item])
      // Sorting is stable: two values under one index stay in the order of sending.
      .sort(([a], [b]) => a - b);
    const [tooHigh] = items.find(([index]) => index >= limit) ?? [];
    if (tooHigh === undefined) return items;
    const detail = `The index ${tooHigh} is too high; ${limit} items are allowed.`;
    return location.fail('index-too-high', detail, { count: tooHigh, limit });
  }

  /**
   * True if one value was sent, under the name itself: its text may hold several items. `name[]` and `name[0]` are one
   * item each.
   */
  get isOneValue(): boolean {
    if (this.values.length !== 1 || this.holdsItem) return false;
    return this.isLeaf || !this.below().some(({ key, values }) => values.length > 0 && isIndex(key));
  }

  /** True if a name continues below `name[]`, which does not say which item it belongs to. */
  get hasNameless(): boolean {
    return this.child('')?.isLeaf === false;
  }

  /** Notes that a property takes the values here. */
  take(): this {
    this.taken ??= 'values';
    return this;
  }

  /** Notes that a property takes all names below, or that a failure says why none of them is read. */
  takeAll(): void {
    this.taken = 'all';
  }

  /** Returns the names below that no property has taken. */
  others(): readonly string[] {
    if (this.taken === 'all') return [];
    return this.below().flatMap(one => [...(one.values.length > 0 && !one.taken ? [one.sentAs] : []), ...one.others()]);
  }
}
