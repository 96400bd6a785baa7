import type { Invalid, Location } from './location';

/** A value sent under a name: text, or a file. */
export type Sent = string | Express.Multer.File;

/** An item of a collection, and its index in the names. */
export type IndexedItem = readonly [index: number, item: NameTree];

/** A part of a name: `name`, `.name`, `[name]`, `[3]` or `[]`. A rest that is not spelled like a path is one part. */
const PART = /(?:^|\.)([^.[\]]+)|\[([^[\]]*)\]|.+$/gs;

/** Returns the parts of a name: `items`, `0` and `sku`. A dot or bracket at the beginning is part of the name. */
export function partsOf(name: string): readonly string[] {
  if (name.search(/[.[\]]/) < 1) return name === '' ? [] : [name];
  return Array.from(name.matchAll(PART), ([all, property, index]) => property ?? index ?? all);
}

/** Returns the first part of a name in lower case, because a name may be sent in any case. */
export function firstPart(name: string): string {
  const end = name.search(/[.[\]]/);
  return (end < 1 ? name : name.slice(0, end)).toLowerCase();
}

const NONE: readonly Sent[] = [];

/** The names of a query or a form as a tree: `items[0].sku` is `sku` below `0` below `items`, in any case. */
export class NameTree {
  // A form of 1 MiB can hold half a million levels, so a node has a map only if it needs one.
  private children: Map<string, NameTree> | undefined;
  /** What a property takes: the values here, or whatever is below, too. */
  private taken: 'values' | 'all' | undefined;

  /**
   * @param values sent under the name that ends here.
   * @param key the part of the name that leads here, spelled as it was first sent.
   * @param name the whole name, spelled like that.
   */
  constructor(
    public values = NONE,
    readonly key = '',
    private name = '',
  ) {}

  /** Makes the tree of values of which each is one item of a collection, whatever its text is. */
  static ofItems(values: readonly Sent[]): NameTree {
    const tree = new NameTree();
    for (const value of values) tree.add('[]', value, ['']);
    return tree;
  }

  add(name: string, value: Sent, parts = partsOf(name)): void {
    if (parts.length === 0) return;
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- a loop takes no stack.
    let here: NameTree = this;
    for (const part of parts) {
      const anyCase = part.toLowerCase();
      let below = here.children?.get(anyCase);
      if (!below) (here.children ??= new Map()).set(anyCase, (below = new NameTree(NONE, part)));
      here = below;
    }
    if (here.values.length > 0) (here.values as Sent[]).push(value);
    else [here.values, here.name] = [[value], name];
  }

  /** True if nothing was sent. */
  get isEmpty(): boolean {
    return this.isLeaf && this.values.length === 0;
  }

  /** True if no name continues here. */
  get isLeaf(): boolean {
    return !this.children;
  }

  /** Returns the trees of the names that continue here. */
  below(): readonly NameTree[] {
    return this.children ? [...this.children.values()] : [];
  }

  /** Returns the tree below a name, which may have several parts. */
  at(name: string): NameTree | undefined {
    if (!this.children) return undefined;
    const below = this.children.get(name.toLowerCase());
    return below ?? partsOf(name).reduce<NameTree | undefined>((t, part) => t?.children?.get(part.toLowerCase()), this);
  }

  /** Returns the tree of a declared name: its values are no unknown ones. */
  take(name: string): NameTree | undefined {
    const below = this.at(name);
    if (below) below.taken ??= 'values';
    return below;
  }

  /** Notes that a property takes all names below, or that a failure says why none of them is read. */
  takeAll(): void {
    this.taken = 'all';
  }

  /** Returns the names that no property takes. */
  others(): readonly string[] {
    if (this.taken === 'all') return [];
    const own = this.values.length > 0 && !this.taken ? [this.name] : [];
    return [...own, ...this.below().flatMap(one => one.others())];
  }

  /** True if the part of the name that leads here numbers an item of a collection: `[3]`, or `[]`. */
  get isItem(): boolean {
    return /^\d*$/.test(this.key);
  }

  /** True if nothing but items is below. */
  get isArray(): boolean {
    return !this.isLeaf && this.below().every(one => one.isItem);
  }

  /** The text, if that is all that was sent under the name and its items; undefined for more, and for a file. */
  get onlyText(): string | undefined {
    const isMore = this.values.length > 1 || this.below().some(one => one.values.length > 0 && one.isItem);
    return isMore || typeof this.values[0] !== 'string' ? undefined : this.values[0];
  }

  /** True if one empty text is all that was sent, here or as the one item: `name=`, `name[]=`, `name[3]=`. */
  get isBlank(): boolean {
    const [only = this, another] = this.below();
    if (another || !only.isLeaf || only.values.length !== 1 || only.values[0] !== '') return false;
    return only === this || (this.values.length === 0 && only.isItem);
  }

  /**
   * Takes the items of a collection: the values sent under the name itself and as `name[]`, and the trees of `name[3]`
   * in index order, whose gaps readers close up. Reports an index over the limit, and a name that continues below
   * `name[]`.
   */
  items(at: Location): readonly IndexedItem[] | Invalid {
    const all = this.below().filter(one => one.isItem);
    for (const one of all) one.taken ??= 'values';
    const nameless = this.children?.get('');
    if (nameless?.isLeaf === false) return this.failNameless(at);
    const { items: limit } = at.limits;
    const indexed = all
      .filter(({ key }) => key !== '')
      .map((item): IndexedItem => [Number(item.key), item])
      .sort(([a], [b]) => a - b);
    const [tooHigh] = indexed.find(([index]) => index >= limit) ?? [];
    if (tooHigh === undefined) return [...itemsOf([...this.values, ...(nameless?.values ?? [])]), ...indexed];
    const detail = `The index ${tooHigh} is too high; ${limit} items are allowed.`;
    return at.fail('index-too-high', detail, { count: tooHigh, limit });
  }

  /** Refuses `items[].sku` and `items.sku`, which belong to no item: a value must not be lost silently. */
  failNameless(at: Location): Invalid {
    this.takeAll();
    const detail = 'The names below do not say which item they belong to. Number the items, starting with [0].';
    return at.fail('invalid', detail);
  }
}

/** Makes items of values without an index. */
export const itemsOf = (values: readonly Sent[]): readonly IndexedItem[] =>
  values.map((value, index) => [index, new NameTree([value])]);
