import { isUtf8 } from 'node:buffer';
import { splitAtEquals } from '../../body/content/urlencoded';

/**
 * Sorts the pairs of a query or a form for comparison: names may come in any order, but the order of the values of one
 * name counts. `a[]`, `a[0]` and `A` belong to the name `a`, because binding reads them as one list: `?tag=x&Tag=y` is
 * [x, y], and `?Tag=y&tag=x` is [y, x]. So does `[a]`, for qs. (The first character may be the mark of `decoded`.)
 */
export function canonicalPairs(pairs: readonly (readonly [name: string, ...values: string[]])[]): string[] {
  const root = (name: string): string => /^[=%]?\[?([^[\].]*)/.exec(name)?.[1]?.toLowerCase() ?? '';
  return sortedBy(pairs, ([name]) => root(name)).flat();
}

/** Returns the items in the order of their texts. Items of one text keep their order. */
export function sortedBy<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  return items
    .map(item => ({ item, text: textOf(item) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ item }) => item);
}

/** Splits `a=1&b=2` without interpreting it. @param text one character for each byte, as node gives URLs. */
export function splitPairs(text: string): [name: string, value: string][] {
  return text
    .split('&')
    .filter(part => part !== '')
    .map(part => {
      const [name, value = ''] = splitAtEquals(part);
      return [decoded(name), decoded(value)];
    });
}

/**
 * Decodes text as a parser would. Text that cannot be decoded is kept as it is, with another mark in front: if `%FF`
 * and `%FE` both became U+FFFD, two different requests would be equal, and without the mark, `%ZZ` would equal `%25ZZ`.
 */
function decoded(text: string): string {
  if (!/[^!-$&-*,-~]/.test(text)) return `=${text}`;
  const bytes = unescaped(text);
  return bytes && isUtf8(bytes) ? `=${bytes.toString()}` : `%${text}`;
}

/** Returns the bytes of the text, in one pass. A byte beyond ASCII is part of a UTF-8 character, escaped or not. */
function unescaped(text: string): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    let byte = text.charCodeAt(at);
    if (byte === PERCENT) {
      byte = digit(text.charCodeAt(at + 1)) * 16 + digit(text.charCodeAt(at + 2));
      at += 2;
    } else if (byte === PLUS) byte = BLANK;
    // NaN if a digit is missing.
    if (!(byte <= 0xff)) return undefined;
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

const PERCENT = 0x25,
  PLUS = 0x2b,
  BLANK = 0x20;

/** Returns the value of a hexadecimal digit, NaN for any other character. */
function digit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}
