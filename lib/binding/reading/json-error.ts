import { InvalidJson, MOST_LEVELS, parseExactly } from './exact-json';

/**
 * Describes what is wrong with text that is not JSON, or is ambiguous, and where. Parsers quote some of the text, which
 * may be a secret; this message does not.
 * @param what names the text, for example "The body".
 * @param error the parser's error.
 */
export function describeJsonError(what: string, text: string, error: unknown): string {
  if (error instanceof RangeError)
    return `${what} has more than ${MOST_LEVELS} levels of objects and lists inside each other.`;
  // V8 names the position in some messages only.
  const found = error instanceof InvalidJson ? error : errorOf(text);
  // JSON.parse accepts more levels, and two values of one name, so what it refused comes later.
  if (!(found instanceof InvalidJson) || (found.isDuplicate && found !== error)) return `${what} is not valid JSON.`;
  const where = lineAndColumn(text, found.position);
  return found.isDuplicate
    ? `${what} is ambiguous: an object has one name with two different values, the second at ${where}. ` +
        'Send each name once.'
    : `${what} is not valid JSON: ${where}.`;
}

function errorOf(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    return error;
  }
}

function lineAndColumn(text: string, position: number): string {
  const before = text.slice(0, position).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
