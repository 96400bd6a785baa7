import { createHash, type Hash } from 'node:crypto';
import { types } from 'node:util';
import { bytesOfView } from '../../basics/bytes';
import { Problem } from '../../problems/problem';
import { NO_FILES, type FilesInBody } from './files-in-body';
import { inNameOrder } from './name-order';

/** Levels of nested objects. JSON may have hundreds of thousands, and each takes some of the stack. */
const MOST_LEVELS = 1_000;

/**
 * Returns what a parser has left in `req.body` as values that JSON tells apart: equal for equal values of a closed list
 * of kinds, and different for all others.
 * @param isForm true if the names of the body are those of a form, which may come in any order.
 * @throws Error for a value of any other kind, since its hidden parts could differ; Problem with status 413 for one
 * that is nested too deeply.
 */
export function parsedParts(body: unknown, files = NO_FILES, isForm = false): readonly unknown[] {
  if (!isForm && new JsonCheck(files).accepts(body)) return ['json', body];
  const writer = new Writer(files, isForm);
  writer.write(body, 0);
  return writer.parts();
}

/** Values and characters of a body whose JSON is made in one piece. */
const MOST_JSON = 1_048_576;

/** Finds what JSON tells apart from every other value: what a JSON parser has made, and the like, unless it is long. */
class JsonCheck {
  private room = MOST_JSON;

  constructor(private readonly files: FilesInBody) {}

  accepts(value: unknown, level = 0): boolean {
    if (--this.room < 0) return false;
    if (typeof value === 'string') return (this.room -= value.length) >= 0;
    if (typeof value === 'object') return value === null || (level < MOST_LEVELS && this.acceptsAll(value, level + 1));
    return typeof value === 'boolean' || (Number.isFinite(value) && !Object.is(value, -0));
  }

  private acceptsAll(value: object, level: number): boolean {
    if (this.files.textOf(value) !== undefined || typeof (value as { toJSON?: unknown }).toJSON === 'function')
      return false;
    const names = Object.keys(value);
    if (!Array.isArray(value)) {
      const properties = value as Readonly<Record<string, unknown>>;
      return isPlain(value) && names.every(name => this.accepts(name) && this.accepts(properties[name], level));
    }
    // Multer makes arrays with holes, which are undefined here, and with properties besides their items.
    if (names.length !== value.length) return false;
    for (let index = 0; index < value.length; index++) if (!this.accepts(value[index], level)) return false;
    return true;
  }
}

/** Characters that are collected before they are hashed. */
const BLOCK = 65_536;

/**
 * Writes a value as text or, if that is long, as its hash. Every value begins with a letter for its kind, and every
 * value of variable length with its length.
 */
class Writer {
  private hash: Hash | undefined;
  private text = '';

  constructor(
    private readonly files: FilesInBody,
    private readonly isForm: boolean,
  ) {}

  parts(): readonly [kind: string, text: string] {
    return this.hash ? ['digest', this.hashed().digest('hex')] : ['text', this.text];
  }

  write(value: unknown, level: number): void {
    if (level > MOST_LEVELS)
      throw new Problem(
        'body-too-large',
        `The request body has objects or lists nested more than ${MOST_LEVELS} levels deep. Nest it less deeply.`,
      );
    switch (typeof value) {
      case 'string':
        return this.put('s', value);
      case 'number':
        return this.put('n', Object.is(value, -0) ? '-0' : String(value));
      case 'bigint':
        return this.put('i', String(value));
      case 'boolean':
        return this.put('b', String(value));
      case 'undefined':
        return this.put('u', '');
      case 'object':
        return value === null ? this.put('0', '') : this.writeObject(value, level + 1);
      case 'function':
      case 'symbol':
        throw notComparable(`a ${typeof value}`);
    }
  }

  private writeObject(value: object, level: number): void {
    const file = this.files.textOf(value);
    if (file !== undefined) return this.put('w', file);
    // Entries, so that the holes of an array are skipped: multer makes 4 294 967 294 of them out of `t[4294967294]=x`.
    if (Array.isArray(value)) return this.writePairs('a', Object.entries(value), level);
    if (isPlain(value)) return this.writePairs('o', this.entriesOf(value, level), level);
    if (types.isMap(value)) return this.writePairs('m', [...value], level);
    if (types.isSet(value)) return this.writeAll('e', [...value], level);
    if (types.isDate(value)) return this.put('d', String(value.getTime()));
    if (ArrayBuffer.isView(value)) return this.putNamed('v', value, bytesOfView(value).toString('base64'));
    if (types.isAnyArrayBuffer(value)) return this.put('f', Buffer.from(value).toString('base64'));
    if (value instanceof URLSearchParams)
      return this.writePairs('q', this.isForm ? inNameOrder([...value]) : [...value], level);
    const written = jsonOf(value);
    if (written === undefined) throw notComparable(`an object of the class ${nameOf(value)}`);
    this.putNamed('j', value, written);
  }

  /** Returns the properties of an object. Below a name of a form, they are what came in its brackets. */
  private entriesOf(value: object, level: number): readonly (readonly [name: string, value: unknown])[] {
    const entries = this.files.entriesOf(value);
    return this.isForm ? inNameOrder(entries, ([name]) => (level === 1 ? name : `_[${name}]`)) : entries;
  }

  private writePairs(kind: string, pairs: readonly (readonly [unknown, unknown])[], level: number): void {
    this.put(kind, String(pairs.length));
    for (const [name, value] of pairs) {
      this.write(name, level);
      this.write(value, level);
    }
  }

  private writeAll(kind: string, values: readonly unknown[], level: number): void {
    this.put(kind, String(values.length));
    for (const value of values) this.write(value, level);
  }

  private putNamed(kind: string, value: object, text: string): void {
    this.put(kind, nameOf(value));
    this.put('s', text);
  }

  private put(kind: string, text: string): void {
    this.text += `${kind}${text.length}:${text}`;
    if (this.text.length >= BLOCK) this.hashed();
  }

  private hashed(): Hash {
    this.hash = (this.hash ?? createHash('sha256')).update(this.text, 'utf16le');
    this.text = '';
    return this.hash;
  }
}

/**
 * Returns true for objects without a class: `{}`, those without a prototype, and those of `querystring` (empty
 * prototype).
 */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null || prototype === Object.prototype) return true;
  // Another realm (a vm context) has an Object.prototype of its own.
  return (
    Object.getPrototypeOf(prototype) === null &&
    (Object.hasOwn(prototype, 'isPrototypeOf') || Reflect.ownKeys(prototype).length === 0)
  );
}

/** Returns the text that the class of an object converts it to: ids of databases, exact numbers, times. */
function jsonOf(value: object): string | undefined {
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON !== 'function' || Object.hasOwn(value, 'toJSON')) return undefined;
  const written: unknown = toJSON.call(value, '');
  return typeof written === 'string' ? written : undefined;
}

function nameOf(value: object): string {
  const { constructor } = value as { constructor?: unknown };
  return typeof constructor === 'function' ? constructor.name : 'without a name';
}

const notComparable = (what: string): Error =>
  new Error(
    `idempotency: req.body holds ${what}, which cannot be compared. Mount idempotency() before the parser, or ` +
      'set req.rawBody to the bytes.',
  );
