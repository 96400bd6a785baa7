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
 * are equal. `JSON.parse` takes about half the time, but rounds numbers.
 * @throws InvalidJson, or RangeError for more than `MOST_LEVELS` levels.
 */
export const parseExactly = (text: string): unknown => new ExactParser(text).parse();

/** Characters of an integer, with its sign, that a double surely holds exactly. */
const EXACT_LENGTH = 15;

/** The characters that may follow a backslash. */
const ESCAPE = /["\\/bfnrt]|u[\dA-Fa-f]{4}/y;

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** It compares codes, since characters take half as long again. At the end of the text, the code is NaN. */
class ExactParser {
  private at = 0;
  private levels = 0;

  constructor(private readonly text: string) {}

  parse(): unknown {
    const value = this.value();
    this.skipBlanks();
    return this.at === this.text.length ? value : this.fail();
  }

  private value(): unknown {
    const code = this.skipBlanks();
    if (code === /* " */ 0x22) return this.string();
    if (code === /* { */ 0x7b) return this.object();
    if (code === /* [ */ 0x5b) return this.array();
    if (code === /* t */ 0x74) return this.literal('true', true);
    if (code === /* f */ 0x66) return this.literal('false', false);
    if (code === /* n */ 0x6e) return this.literal('null', null);
    return this.number();
  }

  private object(): object {
    const object: Record<string, unknown> = {};
    for (let isMember = this.open(/* } */ 0x7d); isMember; isMember = this.goesOn(/* } */ 0x7d)) {
      if (this.skipBlanks() !== /* " */ 0x22) this.fail();
      const name = this.string();
      if (this.skipBlanks() !== /* : */ 0x3a) this.fail();
      this.at++;
      this.skipBlanks();
      const start = this.at;
      const value = this.value();
      if (Object.hasOwn(object, name)) {
        if (!isDeepStrictEqual(object[name], value)) throw new InvalidJson(start, true);
      } else if (name === '__proto__')
        Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
      else object[name] = value;
    }
    return object;
  }

  private array(): unknown[] {
    const array: unknown[] = [];
    for (let isItem = this.open(/* ] */ 0x5d); isItem; isItem = this.goesOn(/* ] */ 0x5d)) array.push(this.value());
    return array;
  }

  /** Begins an object or a list. Returns true if there is something in it before the code that ends it. */
  private open(end: number): boolean {
    this.at++;
    if (++this.levels > MOST_LEVELS) throw new RangeError(`More than ${MOST_LEVELS} levels`);
    return this.skipBlanks() !== end || this.close();
  }

  /** Returns true behind a comma, false behind the code that ends an object or a list. */
  private goesOn(end: number): boolean {
    const next = this.skipBlanks();
    if (next === end) return this.close();
    if (next !== /* , */ 0x2c) this.fail();
    this.at++;
    return true;
  }

  private close(): false {
    this.at++;
    this.levels--;
    return false;
  }

  private string(): string {
    const { text } = this;
    const start = this.at;
    let isEscaped = false;
    for (let code = this.next(); code !== /* " */ 0x22; code = this.next()) {
      if (code === /* \ */ 0x5c) {
        isEscaped = true;
        ESCAPE.lastIndex = this.at + 1;
        if (!ESCAPE.test(text)) this.fail();
        this.at = ESCAPE.lastIndex - 1;
      } else if (!(code >= 0x20)) this.fail();
    }
    this.at++;
    return isEscaped ? (JSON.parse(text.slice(start, this.at)) as string) : text.slice(start + 1, this.at - 1);
  }

  private number(): number | ExactNumber {
    const { text } = this;
    const start = this.at;
    let code = text.charCodeAt(start);
    if (code === /* - */ 0x2d) code = this.next();
    code = code === /* 0 */ 0x30 ? this.next() : this.digits(code);
    const end = this.at;
    if (code === /* . */ 0x2e) code = this.digits(this.next());
    if (code === /* e */ 0x65 || code === /* E */ 0x45) {
      code = this.next();
      this.digits(code === /* + */ 0x2b || code === /* - */ 0x2d ? this.next() : code);
    }
    const number = text.slice(start, this.at);
    return this.at === end && number.length <= EXACT_LENGTH ? Number(number) : new ExactNumber(number);
  }

  /** Reads digits, of which `code` is the first. Returns the code after them. */
  private digits(code: number): number {
    if (!isDigit(code)) this.fail();
    while (isDigit(code)) code = this.next();
    return code;
  }

  private literal<T>(name: string, value: T): T {
    if (!this.text.startsWith(name, this.at)) this.fail();
    this.at += name.length;
    return value;
  }

  /** Returns the code of the first character that is not white space: a blank, a line break or a tab. */
  private skipBlanks(): number {
    let code = this.text.charCodeAt(this.at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = this.next();
    return code;
  }

  /** Goes on to the next character and returns its code. */
  private next(): number {
    return this.text.charCodeAt(++this.at);
  }

  private fail(): never {
    throw new InvalidJson(this.at);
  }
}

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
  const found =
    error instanceof InvalidJson
      ? error
      : recovering(
          () => parseExactly(text),
          thrown => thrown,
        );
  // JSON.parse accepts more levels, and two values of one name, so what it refused comes later.
  if (!(found instanceof InvalidJson) || (found.isDuplicate && found !== error)) return `${what} is not valid JSON.`;
  const before = text.slice(0, found.position);
  const where = `line ${before.split('\n').length}, column ${found.position - before.lastIndexOf('\n')}`;
  if (!found.isDuplicate) return `${what} is not valid JSON: ${where}.`;
  const twice = 'is ambiguous: an object has one name with two different values, the second at';
  return `${what} ${twice} ${where}. Send each name once.`;
}
