import { parseExactly } from './json-text';

/**
 * Says what is wrong with text that is not JSON, and where. The messages of parsers repeat some of the text, which may be a
 * secret; this one does not.
 * @param what the text, for example "The body".
 * @param error the error of the parser that has refused it.
 */
export function describeJsonError(what: string, text: string, error: unknown): string {
  // V8 names a position in some of its messages only; the exact parser does in all of its own.
  const message = positionIn(error) === undefined ? errorOf(text) : error;
  const position = positionIn(message);
  if (position === undefined) return `${what} is not valid JSON: it has too many levels to be read.`;
  const where = lineAndColumn(text, position);
  const isDuplicate = message instanceof Error && message.message.startsWith('Duplicate key');
  return isDuplicate
    ? `${what} has two different values of one name in a JSON object, the second at ${where}.`
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
