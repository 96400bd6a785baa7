import type { Invalid, Location } from './failures';

/** JSON as text: a part of a multipart form that says so. */
export class JsonPart {
  constructor(readonly text: string) {}
}

/** A value sent under a name. */
export type Sent = string | JsonPart | Express.Multer.File;

/** An item of a collection, and its index in the names. */
export type IndexedItem = readonly [index: number, item: NameTree];

/** A name of several parts. */
const PATH = /^[^.[\]]+[.[\]]/;

/** A part of a name: `name`, `.name`, `[name]`, `[3]` or `[]`. A rest that is not spelled like a path is one part. */
const PART = /(?:^|\.)([^.[\]]+)|\[([^[\]]*)\]|.+$/gs;

/** Returns the parts of a name: `items`, `0` and `sku`. A dot or bracket at the beginning is part of the name. */
export function partsOf(name: string): readonly string[] {
  if (!PATH.test(name)) return name === '' ? [] : [name];
  return Array.from(name.matchAll(PART), ([all, property, index]) => property ?? index ?? all);
}

/** Returns the parts of a name in lower case, because a name may be sent in any case. */
export const lowerParts = (name: string): readonly string[] => partsOf(name.toLowerCase());

/** What was sent under one name and below it: `items[0].sku` is `sku` below `0` below `items`, in any case. */
export class NameTree {
  /** The values sent under the name itself. */
  readonly values: Sent[] = [];
  /** The whole name of the values, as it was first sent. */
  private name = '';
  /** Undefined if no name continues here, as below most names. */
  private children: Map<string, NameTree> | undefined;
  /** The values sent as items without an index, `name` or `name[]`. */
  private readonly unnumbered: [index: number, value: Sent][] = [];
  /** The index after all before it. */
  private next = 0;
  /** True once a property has read the values, or a failure says why none does; and the same for all below. */
  private isTaken = false;
  private isTakenBelow = false;
  /** True if the part of the name that leads here was sent in another case, too: to a record, that is another name. */
  hasSpellings = false;

  /** @param key the last part of the name, as it was first sent; empty for an item without an index. */
  constructor(readonly key = '') {}

  /** Makes the tree of one name. @param areItems true if each value is an item of a collection, whatever its text. */
  static of(values: readonly Sent[], areItems = false): NameTree {
    const tree = new NameTree();
    for (const value of values) tree.add('', areItems ? [''] : [], value);
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

  /** @param parts of the name. */
  add(name: string, parts: readonly string[], value: Sent): void {
    let [above, tree] = [this as NameTree, this as NameTree];
    for (const part of parts) tree = (above = tree).grown(part);
    tree.values.push(value);
    tree.name ||= name;
    for (const list of parts.at(-1) === '' ? [above, tree] : [tree]) list.unnumbered.push([list.next++, value]);
  }

  private grown(part: string): NameTree {
    const key = part.toLowerCase();
    const below = (this.children ??= new Map<string, NameTree>()).get(key) ?? new NameTree(part);
    this.children.set(key, below);
    below.hasSpellings ||= below.key !== part;
    // Only what begins with a digit is below a colon.
    if (part < ':' && /^\d+$/.test(part)) this.next = Math.max(this.next, Number(part) + 1);
    return below;
  }

  /** True if no name continues here. */
  get isLeaf(): boolean {
    return this.children === undefined;
  }

  /** Returns the trees of the names that continue here. */
  below(): readonly NameTree[] {
    return [...(this.children?.values() ?? [])];
  }

  /** Returns the tree below a name, which may have several parts. */
  at(name: string): NameTree | undefined {
    return this.children && (this.children.get(name.toLowerCase()) ?? this.find(lowerParts(name)));
  }

  /** Returns the tree below these parts of a name, in lower case. */
  find(parts: readonly string[]): NameTree | undefined {
    return parts.reduce<NameTree | undefined>((tree, part) => tree?.children?.get(part), this);
  }

  /**
   * Notes that the values are those of a property.
   * @param all true if it takes all names below, too, or if a failure says why none of them is read.
   */
  take(all = false): void {
    this.isTaken = true;
    this.isTakenBelow ||= all;
  }

  /** Yields the names that no property takes, each once. */
  *others(): Generator<string> {
    if (!this.isTaken && this.values.length > 0) yield this.name;
    if (!this.isTakenBelow) for (const one of this.below()) yield* one.others();
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
    const [item, another] = this.below();
    if (item) return !another && this.values.length === 0 && item.isItem && item.isLeaf && item.isBlank;
    return this.values.length === 1 && this.values[0] === '';
  }

  /**
   * Returns the items of a collection in the order of their indexes. A value without one, `name` or `name[]`, has the
   * next after all before it. Reports an index over the limit.
   */
  items(at: Location): readonly IndexedItem[] | Invalid {
    const { items: limit } = at.failures.limits;
    const numbered = this.below().filter(one => one.isItem && one.key !== '');
    const items = numbered.map((one): IndexedItem => [Number(one.key), one]);
    const highest = items.reduce((most, [index]) => Math.max(most, index), 0);
    if (highest >= limit) {
      this.take(true);
      return at.fail('too-many-items', `The index ${highest} is too high; ${limit} items are allowed.`);
    }
    const unnumbered = this.children?.get('');
    unnumbered?.take();
    for (const [index, value] of this.unnumbered) items.push([index, NameTree.of([value])]);
    // The names below `name[]` do not say where a second object begins.
    if (unnumbered && !unnumbered.isLeaf) items.push([this.next, unnumbered]);
    return items.sort(([a], [b]) => a - b);
  }
}
