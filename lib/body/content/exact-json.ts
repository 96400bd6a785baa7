import { isDeepStrictEqual } from 'node:util';
import { recovering } from '../../basics/awaitable';

/** A number of JSON that keeps all its digits. Only its class counts: an object of a client can look like one. */
export class ExactNumber {
  /** @param value the digits, as in JSON. */
  constructor(readonly value: string) {}

  toString(): string {
    return this.value;
  }
}

export const isExactNumber = (value: unknown): value is ExactNumber => value instanceof ExactNumber;

/**
 * The error of text that is not JSON: `position` characters are before it. With `isDuplicate`, an object has one name
 * with two different values, and the second begins there.
 */
export class InvalidJson extends SyntaxError {
  constructor(
    readonly position: number,
    readonly isDuplicate = false,
  ) {
    super(`Invalid JSON at position ${position}`);
  }
}

/**
 * Levels of objects and lists inside each other. Each takes some of the stack: how much depends on whether V8 has
 * compiled the parser, and an answer must not. Twice as many as `limits.depth` may allow.
 */
export const MOST_LEVELS = 1_000;

/**
 * Parses JSON (RFC 8259) so that numbers keep all their digits: integers of up to 15 characters, which a double holds
 * exactly, are numbers, and all others are ExactNumbers. A name that an object has twice is accepted if its values
 * are equal. `JSON.parse` takes a fourth to a half of the time, but rounds numbers.
 * @throws InvalidJson, or RangeError for more than `MOST_LEVELS` levels.
 */
export const parseExactly = (text: string): unknown => new ExactParser(text).parse();

/** An integer that a double surely holds exactly: it has up to 15 characters. */
const EXACT = /^(?:\d{1,15}|-\d{1,14})$/;

// What is read at one place of the text.
const BLANKS = /[\t\n\r ]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null/y;
const CHARACTERS = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;

class ExactParser {
  private at = 0;
  private levels = 0;

  constructor(private readonly text: string) {}

  parse(): unknown {
    const value = this.value();
    return this.next() === undefined ? value : this.fail();
  }

  private value(): unknown {
    const first = this.next();
    if (first === '"') return this.string();
    if (first === '{') return this.object();
    if (first === '[') return this.array();
    const scalar = this.take(SCALAR);
    if (EXACT.test(scalar)) return Number(scalar);
    if (scalar === '') this.fail();
    return scalar >= 'a' ? (JSON.parse(scalar) as unknown) : new ExactNumber(scalar);
  }

  private object(): object {
    const object: Record<string, unknown> = {};
    this.members('}', () => {
      if (this.next() !== '"') this.fail();
      const name = this.string();
      if (!this.skip(':')) this.fail();
      this.next();
      const start = this.at;
      const value = this.value();
      if (Object.hasOwn(object, name)) {
        if (!isDeepStrictEqual(object[name], value)) throw new InvalidJson(start, true);
      } else if (name === '__proto__')
        Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
      else object[name] = value;
    });
    return object;
  }

  private array(): unknown[] {
    const array: unknown[] = [];
    this.members(']', () => array.push(this.value()));
    return array;
  }

  /** Reads an object or a list, of which the first bracket is here. */
  private members(end: string, read: () => void): void {
    if (++this.levels > MOST_LEVELS) throw new RangeError(`More than ${MOST_LEVELS} levels`);
    this.at++;
    if (!this.skip(end)) {
      do read();
      while (this.skip(','));
      if (!this.skip(end)) this.fail();
    }
    this.levels--;
  }

  private string(): string {
    const start = this.at++;
    this.take(CHARACTERS);
    const isEscaped = this.text[this.at] === '\\';
    // Not in one pattern: millions of escapes would exhaust the stack of V8's matcher.
    while (this.take(ESCAPE) !== '') this.take(CHARACTERS);
    if (this.text[this.at] !== '"') this.fail();
    const string = this.text.slice(start, ++this.at);
    return isEscaped ? (JSON.parse(string) as string) : string.slice(1, -1);
  }

  /** Returns the first character that is not white space; undefined at the end of the text. */
  private next(): string | undefined {
    // Most often there is none, and a pattern takes longer than a comparison.
    if ((this.text[this.at] ?? ' ') <= ' ') this.take(BLANKS);
    return this.text[this.at];
  }

  /** Goes on behind a character if it is the next one. */
  private skip(character: string): boolean {
    const isNext = this.next() === character;
    if (isNext) this.at++;
    return isNext;
  }

  /** Returns what matches here, and goes on behind it. */
  private take(pattern: RegExp): string {
    const start = this.at;
    pattern.lastIndex = start;
    if (pattern.test(this.text)) this.at = pattern.lastIndex;
    return this.text.slice(start, this.at);
  }

  private fail(): never {
    throw new InvalidJson(this.at);
  }
}

/**
 * Describes what is wrong with text that is not JSON, or is ambiguous, and where. Parsers quote some of the text, which
 * may be a secret; this message does not.
 * @param what names the text, for example "The body".
 */
export function describeJsonError(what: string, text: string): string {
  // V8 names the position in some messages only.
  const found = recovering<unknown>(
    () => parseExactly(text),
    thrown => thrown,
  );
  if (!(found instanceof InvalidJson))
    return `${what} has more than ${MOST_LEVELS} levels of objects and lists inside each other.`;
  const before = text.slice(0, found.position);
  const where = `line ${before.split('\n').length}, column ${found.position - before.lastIndexOf('\n')}`;
  if (!found.isDuplicate) return `${what} is not valid JSON: ${where}.`;
  const twice = 'is ambiguous: an object has one name with two different values, the second at';
  return `${what} ${twice} ${where}. Send each name once.`;
}
