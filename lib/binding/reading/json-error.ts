import { parseExactly } from './json-text';

/**
 * Describes what is wrong with text that is not JSON, and where. Parsers quote some of the text, which may be a secret;
 * this message does not.
 * @param what names the text, for example "The body".
 * @param error the parser's error.
 */
export function describeJsonError(what: string, text: string, error: unknown): string {
  // V8 names the position in some messages only; the exact parser names it in all.
  const message = positionIn(error) === undefined ? errorOf(text) : error;
  const position = positionIn(message);
  if (position === undefined) return `${what} is not valid JSON: it is nested too deeply.`;
  const where = lineAndColumn(text, position);
  const isDuplicate = message instanceof Error && message.message.startsWith('Duplicate key');
  return isDuplicate
    ? `${what} is not valid JSON: an object has one name with two different values, the second at ${where}.`
    : `${what} is not valid JSON: ${where}.`;
}

function errorOf(text: string): unknown {
  try {
    parseExactly(text);
    return undefined;
  } catch (error) {
    return error;
  }
}

function positionIn(error: unknown): number | undefined {
  const [, digits] =
    (error instanceof Error && / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(error.message)) || [];
  return digits === undefined ? undefined : Number(digits);
}

function lineAndColumn(text: string, position: number): string {
  const before = text.slice(0, position).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
