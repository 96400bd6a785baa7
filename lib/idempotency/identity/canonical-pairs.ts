import { isUtf8 } from 'node:buffer';
import { splitAtEquals } from '../../body/content/urlencoded';
import { inNameOrder } from './name-order';

/** Sorts the pairs of a query or a form for comparison: names may come in any order. */
export function canonicalPairs(pairs: readonly (readonly [name: string, ...values: string[]])[]): string[] {
  return inNameOrder(pairs).flat();
}

/**
 * Returns what is compared of the text of a query or a form: its pairs or, if parsers split it or read its names in
 * different ways, the text itself.
 * @param text one character for each byte, as node gives URLs.
 */
export function canonicalText(text: string): string[] {
  // URLSearchParams drops a question mark at the beginning.
  const pairs = text.startsWith('?') ? undefined : pairsIn(text);
  return pairs ? canonicalPairs(pairs) : [text];
}

function pairsIn(text: string): [name: string, value: string][] | undefined {
  const pairs: [name: string, value: string][] = [];
  for (const part of text.split('&')) {
    if (part === '') continue;
    const [sent, value = ''] = splitAtEquals(part);
    const name = decoded(sent);
    // Qs takes the first `]=` for the end of a name. Parsers that decode leniently read `%FF` and `%FE` as one name.
    if (name === undefined || (value.includes('=') && /(?:\]|%5d)=/i.test(value))) return undefined;
    // If `%FF` and `%FE` both became U+FFFD, two different requests would be equal.
    const read = decoded(value);
    pairs.push([name, read === undefined ? `%${value}` : `=${read}`]);
  }
  return pairs;
}

/** Decodes text as a parser would. Returns undefined for text that cannot be decoded. */
function decoded(text: string): string | undefined {
  if (!/[^!-$&-*,-~]/.test(text)) return text;
  const bytes = unescaped(text);
  return bytes && isUtf8(bytes) ? bytes.toString() : undefined;
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
