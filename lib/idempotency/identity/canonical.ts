import { isExactNumber, parseExactly } from '../../body/content/exact-json';
import { splitAtEquals } from '../../body/content/urlencoded';
import { describe } from '../../options/check';
import { isPlain } from '../../options/merge';
import { Problem } from '../../problems/problem';

// One spelling for what may be written in several ways: names in any order, JSON, and what a parser has made of a body.

/**
 * What names of a query or a form begin with, up to a dot or a bracket, if every parser reads the same there: nothing
 * that is decoded, since `%61` may be another spelling of `a`, and no name without a root, since qs reads `[a]` as `a`.
 */
const ROOT = /^(?:(?![%+.=?[\]])[!-~])+(?=$|[.[]|%5b)/i;

/** Most pairs whose order takes no part: a parser may ignore those beyond (Express takes 1,000). */
const MOST_PAIRS = 1_000;

/**
 * Sorts the entries of a query or a form for comparison: names may come in any order. All names of one root (`a`, `A`,
 * `a.b`, `a[]`) keep theirs, since parsers put them together: binding reads `?tag=x&Tag=y` as [x, y]. If a name has no
 * root, it may belong to any other, and all entries keep their order.
 */
export function inNameOrder<T extends readonly [name: string, ...values: unknown[]]>(
  entries: readonly T[],
): readonly T[] {
  const rooted = entries.map(entry => ({ entry, root: ROOT.exec(entry[0])?.[0].toLowerCase() ?? '' }));
  if (rooted.some(({ root }) => root === '')) return entries;
  return rooted.sort((a, b) => inOrder(a.root, b.root)).map(({ entry }) => entry);
}

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Returns the pairs of a query or an urlencoded form, as they were sent: two spellings of a value are two values.
 * @returns undefined for too many.
 */
export function pairsInOrder(text: string): readonly string[] | undefined {
  const pairs = text.split('&', MOST_PAIRS + 1);
  if (pairs.length > MOST_PAIRS) return undefined;
  const named = pairs.filter(pair => pair !== '').map(pair => [splitAtEquals(pair)[0], pair] as const);
  return inNameOrder(named).map(([, pair]) => pair);
}

/**
 * Returns the one text of all JSON texts with this value: members in the order of their names, numbers as their
 * significant digits and an exponent.
 * @throws Error if only the bytes tell what the text says: it is no JSON, has more than 50,000 values or 100 levels (to
 * read and to sort them blocks the process), or has an object with two members of one name, of which each parser
 * chooses one.
 */
export function canonicalJson(text: string): string {
  const writer = new CanonicalWriter(50_000, 100);
  const canonical = writer.write(parseExactly(text));
  // Outside of strings, each member of an object has a colon.
  const colons = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '').split(':').length - 1;
  if (writer.members !== colons) throw new SyntaxError('Two members of one name');
  return canonical;
}

/**
 * Returns the same of what a parser has left in `req.body`.
 * @param isForm true if the names of the body are those of a form, of which some belong together.
 * @throws Error for a value that JSON does not know, since its hidden parts could differ; Problem with status 413 for
 * one that is nested too deeply: each level takes some of the stack.
 */
export const canonicalValue = (value: unknown, isForm = false): string =>
  new CanonicalWriter(Infinity, 1_000).write(value, isForm ? inFormOrder : inOwnOrder);

const inOwnOrder = (names: string[]): readonly string[] => names.sort();
const inFormOrder = (names: string[]): readonly string[] =>
  inNameOrder(names.map(name => [name] as const)).map(([name]) => name);

/** Writes a value, and counts what it meets. */
class CanonicalWriter {
  private values = 1;
  members = 0;

  constructor(
    private readonly mostValues: number,
    private readonly mostLevels: number,
  ) {}

  /** @param order the order of the members; below, it is that of their names. */
  write(value: unknown, order = inOwnOrder, level = 0): string {
    // With its length, since a text may contain anything. (What JSON escapes would take longer to hash.)
    if (typeof value === 'string') return `${value.length}'${value}`;
    if (typeof value === 'number' && Number.isFinite(value)) return canonicalDouble(value);
    if (isExactNumber(value)) return canonicalNumber(String(value));
    if (value === undefined || value === null || typeof value === 'boolean' || typeof value === 'number')
      return String(value);
    const object = checked(value);
    // Names, so that the holes of an array are skipped: multer makes 4 294 967 294 of them out of `t[4294967295]=x`.
    const names = Object.keys(object);
    this.values += names.length;
    if (this.values > this.mostValues) throw new RangeError('Too many values');
    if (level === this.mostLevels)
      throw new Problem(
        'body-too-large',
        `The request body has objects or lists nested more than ${level} levels deep. Nest it less deeply.`,
      );
    const isList = Array.isArray(object);
    if (!isList) this.members += names.length;
    let written = '';
    for (const name of isList ? names : order(names))
      written += `${written && ','}${name.length}'${name}:${this.write(object[name], inOwnOrder, level + 1)}`;
    return isList ? `[${written}]` : `{${written}}`;
  }
}

/** @throws Error for any other value than an array, or an object without a class. */
function checked(value: unknown): Readonly<Record<string, unknown>> {
  if (Array.isArray(value) || isPlain(value)) return value as Readonly<Record<string, unknown>>;
  throw new Error(
    `idempotency: req.body holds ${typeof value === 'object' ? describe(value) : `a ${typeof value}`}, which is no ` +
      'JSON and cannot be compared. Mount idempotency() before the parser, or set req.rawBody to the bytes.',
  );
}

/** Returns the same as {@link canonicalNumber}, in a third of the time. */
function canonicalDouble(value: number): string {
  if (value === 0) return '0';
  let [whole, zeros] = [value, 0];
  for (; whole % 10 === 0; whole /= 10) zeros++;
  if (Number.isSafeInteger(value)) return `${whole}e${zeros}`;
  const text = value.toExponential();
  const end = text.indexOf('e');
  const digits = text.slice(0, end).replace('.', '');
  return `${digits}e${Number(text.slice(end + 1)) - digits.length + (value < 0 ? 2 : 1)}`;
}

/** A number of JSON. A longer exponent could not be added to exactly. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,9}))?$/i;

/** @throws Error for Infinity, NaN and an exponent of more than nine digits. */
function canonicalNumber(text: string): string {
  const [found, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (found === undefined) throw new RangeError('A number that is not compared');
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  // Not /0+$/, which would read a long run of zeros again from each of them.
  while (digits[end - 1] === '0') end--;
  return end === 0 ? '0' : `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
