import { createHash, type Hash } from 'node:crypto';
import { types } from 'node:util';
import { Problem } from '../../problems/problem';

/** Levels of nested objects. JSON may have hundreds of thousands, and each takes some of the stack. */
const MOST_LEVELS = 1_000;

/**
 * Returns what a parser has left in `req.body` as values that JSON tells apart: equal for equal values of a closed list
 * of kinds, and different for all others.
 * @throws Error for a value of any other kind, since its hidden parts could differ; Problem with status 413 for one
 * that is nested too deeply.
 */
export function parsedParts(body: unknown): readonly unknown[] {
  if (isJsonValue(body, 0)) return ['json', body];
  const writer = new Writer();
  writer.write(body, 0);
  return writer.parts();
}

/** Returns true for what JSON tells apart from every other value: what a JSON parser has made, and the like. */
function isJsonValue(value: unknown, level: number): boolean {
  if (typeof value === 'object') return value === null || (level < MOST_LEVELS && isJsonObject(value, level + 1));
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function isJsonObject(value: object, level: number): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  const names = Object.keys(value);
  // An array may have holes, or properties besides its items.
  if (Array.isArray(value)) return names.length === value.length && value.every(item => isJsonValue(item, level));
  return isPlain(value) && names.every(name => isJsonValue((value as Readonly<Record<string, unknown>>)[name], level));
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

  parts(): readonly [kind: string, text: string] {
    return this.hash ? ['digest', this.hashed().digest('hex')] : ['text', this.text];
  }

  write(value: unknown, level: number): void {
    if (level > MOST_LEVELS)
      throw new Problem('body-too-large', `The request body has more than ${MOST_LEVELS} levels.`);
    switch (typeof value) {
      case 'string':
        return this.put('s', value);
      case 'number':
        return this.put('n', String(value));
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
        throw unreadable(`a ${typeof value}`);
    }
  }

  private writeObject(value: object, level: number): void {
    // Entries, so that the holes of an array are skipped: multer makes 4 294 967 294 of them out of `t[4294967294]=x`.
    if (Array.isArray(value) || isPlain(value))
      return this.writePairs(Array.isArray(value) ? 'a' : 'o', Object.entries(value), level);
    if (types.isMap(value)) return this.writePairs('m', [...value], level);
    if (types.isSet(value)) return this.writeAll('e', [...value], level);
    if (types.isDate(value)) return this.put('d', String(value.getTime()));
    if (ArrayBuffer.isView(value))
      return this.putNamed(
        'v',
        value,
        Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'),
      );
    if (types.isAnyArrayBuffer(value)) return this.put('f', Buffer.from(value).toString('base64'));
    if (value instanceof URLSearchParams) return this.writePairs('q', [...value], level);
    const written = jsonOf(value);
    if (written === undefined) throw unreadable(`an object of the class ${nameOf(value)}`);
    this.putNamed('j', value, written);
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

const unreadable = (what: string): Error =>
  new Error(
    `bindonce: req.body holds ${what}, which idempotency() cannot compare. Mount idempotency() before the parser, or ` +
      'set req.rawBody to the bytes.',
  );
