import { createHash } from 'node:crypto';
import { isExactNumber, parseExactly } from '../../body/content/exact-json';
import { splitAtEquals } from '../../body/content/urlencoded';
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

/** Values and levels of JSON that is compared by value: to read and to sort it blocks the process. */
const MOST_VALUES = 50_000;
const MOST_LEVELS = 100;

/**
 * Returns the one text of all JSON texts with this value: members in the order of their names, numbers as their
 * significant digits and an exponent.
 * @throws Error if only the bytes tell what the text says: it is no JSON, is beyond the limits, or has an object with
 * two members of one name, of which each parser chooses one.
 */
export function canonicalJson(text: string): string {
  const seen = { values: 1, members: 0 };
  const canonical = canonicalOf(parseExactly(text), seen);
  // Outside of strings, each member of an object has a colon.
  const colons = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '').split(':').length - 1;
  if (seen.members !== colons) throw new SyntaxError('Two members of one name');
  return canonical;
}

/** Returns the same of what a parser has made of JSON. @throws Error if it is beyond the limits, or no JSON. */
export const canonicalValue = (value: unknown): string => canonicalOf(value, { values: 1, members: 0 });

function canonicalOf(value: unknown, seen: { values: number; members: number }, level = 0): string {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value);
  if (typeof value === 'number' || isExactNumber(value)) return canonicalNumber(String(value));
  if (level === MOST_LEVELS) throw new RangeError('Too many levels');
  const entries = Object.entries(checked(value));
  seen.values += Array.isArray(value) ? value.length : entries.length;
  if (seen.values > MOST_VALUES) throw new RangeError('Too many values');
  if (Array.isArray(value)) {
    // Other properties than its items, and holes, are not JSON.
    if (entries.length !== value.length) throw new TypeError('No list of JSON');
    return `[${Array.from(value, one => canonicalOf(one, seen, level + 1)).join()}]`;
  }
  seen.members += entries.length;
  const members = entries
    .sort(([a], [b]) => inOrder(a, b))
    .map(([name, one]) => `${JSON.stringify(name)}:${canonicalOf(one, seen, level + 1)}`);
  return `{${members.join()}}`;
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

/** Levels of what a parser has left. JSON may have hundreds of thousands, and each takes some of the stack. */
const MOST_PARSED_LEVELS = 1_000;

/** Characters of a body that takes part as text: to hash it apart takes 5 µs. */
const SHORT = 4_096;

/**
 * Returns what a parser has left in `req.body`, which may be what JSON knows: equal for equal values only.
 * @param isForm true if the names of the body are those of a form, which may come in any order.
 * @throws Error for a value of any other kind, since its hidden parts could differ; Problem with status 413 for one
 * that is nested too deeply.
 */
export function parsedParts(body: unknown, isForm = false): readonly [kind: string, text: string] {
  const pieces: string[] = [];
  writeParsed(body, isForm, 0, pieces);
  const text = pieces.join('');
  // As UTF-16: in UTF-8, all halves of surrogate pairs would be the same character.
  return text.length <= SHORT ? ['json', text] : ['digest', createHash('sha256').update(text, 'utf16le').digest('hex')];
}

function writeParsed(value: unknown, isForm: boolean, level: number, pieces: string[]): void {
  if (level > MOST_PARSED_LEVELS)
    throw new Problem(
      'body-too-large',
      `The request body has objects or lists nested more than ${MOST_PARSED_LEVELS} levels deep. Nest it less deeply.`,
    );
  if (typeof value === 'string') pieces.push(`s${value.length}:${value}`);
  else if (typeof value === 'number') pieces.push(`n${Object.is(value, -0) ? '-0' : value};`);
  else if (typeof value === 'boolean' || value === null || value === undefined) pieces.push(`${value};`);
  else {
    // Entries, so that the holes of an array are skipped: multer makes 4 294 967 294 of them out of `t[4294967295]=x`.
    const entries = Object.entries(checked(value));
    pieces.push(`${Array.isArray(value) ? 'a' : 'o'}${entries.length};`);
    for (const [name, one] of isForm && !Array.isArray(value) ? inNameOrder(entries) : entries) {
      pieces.push(`s${name.length}:${name}`);
      writeParsed(one, false, level + 1, pieces);
    }
  }
}

/** @throws Error for any other value than an array, or an object without a class. */
function checked(value: unknown): Readonly<Record<string, unknown>> {
  if (Array.isArray(value) || isPlain(value)) return value as Readonly<Record<string, unknown>>;
  const { constructor } = Object(value) as { constructor?: { name?: string } };
  const kind = typeof value === 'object' ? `an object of the class ${constructor?.name ?? '?'}` : `a ${typeof value}`;
  throw new Error(
    `idempotency: req.body holds ${kind}, which is no JSON and cannot be compared. Mount idempotency() ` +
      'before the parser, or set req.rawBody to the bytes.',
  );
}
