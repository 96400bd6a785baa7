import { sortedBy } from './name-order';

/**
 * The files that a parser has left, where `req.body` holds them, too: `union()` of express-form-data puts them there,
 * and applications do. They are compared by their texts, since each attempt stores them under another random path. A
 * parser lists files, and the fields of files, in the order in which they were stored, which is another for each
 * attempt, too.
 */
export class FilesInBody {
  /** @param texts what is compared of each file, by the parser's object. */
  constructor(private readonly texts: ReadonlyMap<unknown, string>) {}

  /** Returns the text of a file, or of a list of files in any order; undefined for any other value. */
  textOf(value: unknown): string | undefined {
    if (this.texts.size === 0 || !Array.isArray(value)) return this.texts.get(value);
    const texts = Object.values(value).map(item => this.texts.get(item));
    return texts.length > 0 && !texts.includes(undefined) ? JSON.stringify(texts.sort()) : undefined;
  }

  /** Returns the properties of an object: those with files last, and by name. */
  entriesOf(value: object): [name: string, value: unknown][] {
    const entries = Object.entries(value) as [name: string, value: unknown][];
    if (this.texts.size === 0) return entries;
    const files = entries.filter(([, one]) => this.textOf(one) !== undefined);
    const others = entries.filter(([, one]) => this.textOf(one) === undefined);
    return [...others, ...sortedBy(files, ([name]) => name)];
  }
}

export const NO_FILES = new FilesInBody(new Map());
