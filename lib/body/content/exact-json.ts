import { isDeepStrictEqual } from 'node:util';

/** A number of JSON that keeps all its digits. Only its class counts: an object of a client can look like one. */
export class ExactNumber {
  /** @param value the digits, as in JSON. */
  constructor(readonly value: string) {}

  toString(): string {
    return this.value;
  }
}

export const isExactNumber = (value: unknown): value is ExactNumber => value instanceof ExactNumber;

/** The error of text that is not JSON. */
export class InvalidJson extends SyntaxError {
  constructor(
    /** Characters before the error. */ readonly position: number,
    /** True if an object has one name with two different values, and the second begins there. */
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
export function parseExactly(text: string): unknown {
  return new ExactParser(text).parse();
}

const TAB = 0x09,
  LF = 0x0a,
  CR = 0x0d,
  BLANK = 0x20,
  QUOTE = 0x22,
  PLUS = 0x2b,
  COMMA = 0x2c,
  MINUS = 0x2d,
  POINT = 0x2e,
  ZERO = 0x30,
  NINE = 0x39,
  COLON = 0x3a,
  UPPER_E = 0x45,
  OPENING_BRACKET = 0x5b,
  BACKSLASH = 0x5c,
  CLOSING_BRACKET = 0x5d,
  LOWER_E = 0x65,
  LOWER_F = 0x66,
  LOWER_N = 0x6e,
  LOWER_T = 0x74,
  OPENING_BRACE = 0x7b,
  CLOSING_BRACE = 0x7d;

/** Characters of an integer, with its sign, that a double surely holds exactly. */
const EXACT_LENGTH = 15;

/** The characters that may follow a backslash. */
const ESCAPE = /["\\/bfnrt]|u[\dA-Fa-f]{4}/y;

/** Comparisons with a code are false at the end of the text, where the code is NaN. */
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
    switch (this.skipBlanks()) {
      case QUOTE:
        return this.string();
      case OPENING_BRACE:
        return this.object();
      case OPENING_BRACKET:
        return this.array();
      case LOWER_T:
        return this.literal('true', true);
      case LOWER_F:
        return this.literal('false', false);
      case LOWER_N:
        return this.literal('null', null);
      default:
        return this.number();
    }
  }

  private object(): object {
    const object: Record<string, unknown> = {};
    this.open();
    if (this.skipBlanks() === CLOSING_BRACE) return this.closed(object);
    for (;;) {
      if (this.skipBlanks() !== QUOTE) this.fail();
      const name = this.string();
      if (this.skipBlanks() !== COLON) this.fail();
      this.at++;
      this.skipBlanks();
      const start = this.at;
      const value = this.value();
      if (Object.hasOwn(object, name)) {
        if (!isDeepStrictEqual(object[name], value)) throw new InvalidJson(start, true);
      } else if (name === '__proto__')
        Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
      else object[name] = value;
      const next = this.skipBlanks();
      if (next === CLOSING_BRACE) return this.closed(object);
      if (next !== COMMA) this.fail();
      this.at++;
    }
  }

  private array(): unknown[] {
    const array: unknown[] = [];
    this.open();
    if (this.skipBlanks() === CLOSING_BRACKET) return this.closed(array);
    for (;;) {
      array.push(this.value());
      const next = this.skipBlanks();
      if (next === CLOSING_BRACKET) return this.closed(array);
      if (next !== COMMA) this.fail();
      this.at++;
    }
  }

  private open(): void {
    this.at++;
    if (++this.levels > MOST_LEVELS) throw new RangeError(`More than ${MOST_LEVELS} levels`);
  }

  private closed<T>(value: T): T {
    this.at++;
    this.levels--;
    return value;
  }

  private string(): string {
    const { text } = this;
    const start = this.at;
    let isEscaped = false;
    for (let code = this.next(); code !== QUOTE; code = this.next()) {
      if (code === BACKSLASH) {
        isEscaped = true;
        ESCAPE.lastIndex = this.at + 1;
        if (!ESCAPE.test(text)) this.fail();
        this.at = ESCAPE.lastIndex - 1;
      } else if (!(code >= BLANK)) this.fail();
    }
    this.at++;
    return isEscaped ? (JSON.parse(text.slice(start, this.at)) as string) : text.slice(start + 1, this.at - 1);
  }

  private number(): number | ExactNumber {
    const { text } = this;
    const start = this.at;
    let code = text.charCodeAt(start);
    if (code === MINUS) code = this.next();
    if (code === ZERO) code = this.next();
    else code = this.digits(code);
    let isInteger = true;
    if (code === POINT) {
      isInteger = false;
      code = this.digits(this.next());
    }
    if (code === LOWER_E || code === UPPER_E) {
      isInteger = false;
      code = this.next();
      this.digits(code === PLUS || code === MINUS ? this.next() : code);
    }
    const number = text.slice(start, this.at);
    return isInteger && number.length <= EXACT_LENGTH ? Number(number) : new ExactNumber(number);
  }

  /** Reads digits, of which `code` is the first. Returns the code after them. */
  private digits(code: number): number {
    if (!(code >= ZERO && code <= NINE)) this.fail();
    do code = this.next();
    while (code >= ZERO && code <= NINE);
    return code;
  }

  private literal<T>(name: string, value: T): T {
    if (!this.text.startsWith(name, this.at)) this.fail();
    this.at += name.length;
    return value;
  }

  /** Returns the code of the first character that is not white space. */
  private skipBlanks(): number {
    let code = this.text.charCodeAt(this.at);
    while (code === BLANK || code === LF || code === CR || code === TAB) code = this.next();
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
  const found = error instanceof InvalidJson ? error : errorOf(text);
  // JSON.parse accepts more levels, and two values of one name, so what it refused comes later.
  if (!(found instanceof InvalidJson) || (found.isDuplicate && found !== error)) return `${what} is not valid JSON.`;
  const before = text.slice(0, found.position).split('\n');
  const where = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
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
