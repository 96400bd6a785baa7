import { isExactNumber, parseExactly } from '../../body/content/exact-json';
import { sortedBy } from './name-order';
import { checked } from './parsed-body';

/** Values and levels of JSON that is compared by value: to read and to sort it blocks the process. */
const MOST_VALUES = 50_000;
const MOST_LEVELS = 100;

/**
 * Returns the one text of all JSON texts with this value: members in the order of their names, numbers as their
 * significant digits and an exponent.
 * @returns undefined if only the bytes tell what the text says: it is no JSON, is beyond the limits, or has an object
 * with two members of one name, of which each parser chooses one.
 */
export function canonicalJson(text: string): string | undefined {
  try {
    const writing = new CanonicalJson();
    const canonical = writing.write(parseExactly(text));
    return writing.members === membersIn(text) ? canonical : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the same of what a parser has made of JSON; undefined if it is beyond the limits, or no JSON. */
export function canonicalValue(value: unknown): string | undefined {
  try {
    return new CanonicalJson().write(value);
  } catch {
    return undefined;
  }
}

/** Counts the members of all objects of a valid JSON text: outside of strings, each has a colon. */
const membersIn = (text: string): number => text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '').split(':').length - 1;

class CanonicalJson {
  members = 0;
  private values = 1;

  /** @throws Error for a value that is beyond the limits, or no JSON. */
  write(value: unknown, level = 0): string {
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value);
    if (typeof value === 'number' || isExactNumber(value)) return canonicalNumber(String(value));
    if (level === MOST_LEVELS) throw new RangeError('Too many levels');
    if (Array.isArray(value)) {
      this.count(value.length);
      // Other properties than its items, and holes, are not JSON.
      if (Object.keys(value).length !== value.length) throw new TypeError('No list of JSON');
      return `[${Array.from(value, one => this.write(one, level + 1)).join()}]`;
    }
    const entries = sortedBy(Object.entries(checked(value)), ([name]) => name);
    this.count(entries.length);
    this.members += entries.length;
    return `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${this.write(one, level + 1)}`).join()}}`;
  }

  private count(values: number): void {
    this.values += values;
    if (this.values > MOST_VALUES) throw new RangeError('Too many values');
  }
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
