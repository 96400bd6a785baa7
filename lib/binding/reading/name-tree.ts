import type { Invalid, Location } from './location';

/** JSON as text: a part of a multipart form that says so. */
export class JsonPart {
  constructor(readonly text: string) {}
}

/** A value that cannot be decoded. Its failure has been reported. */
export const UNREADABLE: unique symbol = Symbol('unreadable');

/** A value sent under a name. */
export type Sent = string | JsonPart | typeof UNREADABLE | Express.Multer.File;

/** A name of a query or a form, and its value. */
export interface SentName {
  readonly name: string;
  readonly parts: readonly string[];
  readonly value: Sent;
  /** True once a property has read it, or a failure says why none does. */
  taken: boolean;
}

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

/** What was sent under one name and below it: `items[0].sku` is `sku` below `0` below `items`, in any case. */
export class NameTree {
  /** The values sent under the name itself. */
  readonly values: Sent[] = [];
  /** All that was sent here and below. */
  private readonly sent: SentName[] = [];
  private children: ReadonlyMap<string, NameTree> | undefined;

  /**
   * @param depth how many parts lead here.
   * @param key the last of these parts, as it was first sent; empty for an item without an index.
   */
  constructor(
    private readonly depth = 0,
    readonly key = '',
  ) {}

  /** Makes the tree of one name. @param areItems true if each value is an item of a collection, whatever its text. */
  static of(values: readonly Sent[], areItems = false): NameTree {
    const tree = new NameTree();
    for (const value of values) tree.add({ name: '', parts: areItems ? [''] : [], value, taken: false });
    return tree;
  }

  /**
   * Splits one text into items at its commas, unless that makes an empty item: then the comma is part of the text.
   * Items of headers may have blanks around them (RFC 9110, section 5.6.1).
   */
  static itemsIn(text: string, { source }: Location): readonly IndexedItem[] {
    const parts = text.split(',');
    const texts = parts.some(part => part.trim() === '') ? [text] : parts;
    return texts.map((part, index) => [index, NameTree.of([source === 'header' ? part.trim() : part])]);
  }

  add(one: SentName): void {
    this.sent.push(one);
    if (one.parts.length === this.depth) this.values.push(one.value);
  }

  /** True if no name continues here. */
  get isLeaf(): boolean {
    return this.values.length === this.sent.length;
  }

  /** Returns the trees of the names that continue here. @param isExact true if another case is another name. */
  below(isExact = false): readonly NameTree[] {
    return this.isLeaf ? [] : [...(isExact ? this.grouped(true) : this.inAnyCase()).values()];
  }

  private inAnyCase(): ReadonlyMap<string, NameTree> {
    return (this.children ??= this.grouped(false));
  }

  private grouped(isExact: boolean): ReadonlyMap<string, NameTree> {
    const groups = new Map<string, NameTree>();
    for (const one of this.sent) {
      const part = one.parts[this.depth];
      if (part === undefined) continue;
      const key = isExact ? part : part.toLowerCase();
      const below = groups.get(key) ?? new NameTree(this.depth + 1, part);
      below.add(one);
      groups.set(key, below);
    }
    return groups;
  }

  /** Returns the tree below a name, which may have several parts. */
  at(name: string): NameTree | undefined {
    if (this.isLeaf) return undefined;
    const below = this.inAnyCase().get(name.toLowerCase());
    const parts = below ? [] : partsOf(name);
    return below ?? parts.reduce<NameTree | undefined>((t, part) => t?.inAnyCase().get(part.toLowerCase()), this);
  }

  /**
   * Notes that the values are those of a property.
   * @param all true if it takes all names below, too, or if a failure says why none of them is read.
   */
  take(all = false): void {
    for (const one of this.sent) one.taken ||= all || one.parts.length === this.depth;
  }

  /** Returns the names that no property takes, each once. */
  others(): Iterable<string> {
    const names = new Map<string, string>();
    for (const { taken, parts, name } of this.sent) {
      const path = parts.join('.').toLowerCase();
      if (!taken && !names.has(path)) names.set(path, name);
    }
    return names.values();
  }

  /** True if the part of the name that leads here numbers an item of a collection: `[3]`, or `[]`. */
  get isItem(): boolean {
    return /^\d*$/.test(this.key);
  }

  /** The text, if that is all that was sent under the name and its items; undefined for more, and for a file. */
  get onlyText(): string | undefined {
    const [only, ...more] = this.values;
    const isMore = more.length > 0 || this.below().some(one => one.values.length > 0 && one.isItem);
    return isMore || typeof only !== 'string' ? undefined : only;
  }

  /** True if one empty text is all that was sent, here or as the one item: `name=`, `name[]=`, `name[3]=`. */
  get isBlank(): boolean {
    const [only, another] = this.sent;
    return !another && only?.value === '' && /^\d*$/.test(only.parts.slice(this.depth).join('.'));
  }

  /**
   * Returns the items of a collection in the order of their indexes. A value without one, `name` or `name[]`, has the
   * next after all before it. Reports an index over the limit, and a name that continues below `name[]`.
   */
  items(at: Location): readonly IndexedItem[] | Invalid {
    const { items: limit } = at.limits;
    const items: IndexedItem[] = [];
    const indexed = new Map<string, NameTree>();
    let next = 0;
    for (const one of this.sent) {
      const { [this.depth]: key = '', length } = one.parts;
      if (key === '' && length > this.depth + 1) return this.failNameless(at);
      if (!/^\d*$/.test(key)) continue;
      const index = key === '' ? next : Number(key);
      if (key !== '' && index >= limit) {
        this.take(true);
        const detail = `The index ${index} is too high; ${limit} items are allowed.`;
        return at.fail('index-too-high', detail, { count: index, limit });
      }
      const item = indexed.get(key) ?? new NameTree(key === '' ? length : this.depth + 1, key);
      item.add(one);
      if (!indexed.has(key)) items.push([index, item]);
      if (key !== '') indexed.set(key, item);
      next = Math.max(next, index + 1);
    }
    return items.sort(([a], [b]) => a - b);
  }

  /** Refuses `items[].sku` and `items.sku`, which belong to no item: a value must not be lost silently. */
  failNameless(at: Location): Invalid {
    this.take(true);
    const detail = 'The names below do not say which item they belong to. Number the items, starting with [0].';
    return at.fail('invalid', detail);
  }
}
