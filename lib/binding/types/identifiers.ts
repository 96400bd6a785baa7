import { isExactNumber } from '../../body/content/exact-json';
import { describe } from '../../options/check';
import type { ParseResult } from './property-type';
import type { RuledType } from './rules';
import { scalar } from './scalar';

const GUID = /^(?:[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** A GUID, with or without dashes, braces or parentheses; as lower-case text with dashes. */
export const guid: RuledType<string> = scalar('guid', {
  described: 'a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  text(text) {
    // As most clients write it.
    if (text.length === 36 && GUID.test(text)) return text;
    const bare = text
      .trim()
      .toLowerCase()
      .replace(/^\{(.*)\}$|^\((.*)\)$/, '$1$2');
    if (!GUID.test(bare)) return undefined;
    return bare.length === 36 ? bare : bare.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  },
  schema: { type: 'string', format: 'uuid' },
});

/**
 * An absolute URL (WHATWG) whose scheme is http or https: others can run code or read files when a browser or a server
 * follows them. It has at most 8,000 characters (RFC 9110, section 4.1), or 1,000 if it is not all ASCII, because the
 * time to convert a host from Unicode grows with the square of its length.
 */
export const uri: RuledType<URL> = scalar('uri', {
  described: 'a URL that begins with http: or https:',
  text(text) {
    const isShort = text.length <= (/^[ -~]*$/.test(text) ? 8_000 : 1_000);
    const url = isShort && URL.canParse(text) ? new URL(text) : undefined;
    return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : undefined;
  },
  // JSON Schema has no flag for any case.
  schema: { type: 'string', format: 'uri', pattern: '^([hH][tT][tT][pP][sS]?):' },
});

/** Two to four numbers: major, minor, build, revision. */
export class Version {
  constructor(
    readonly major: number,
    readonly minor: number,
    /** Undefined if the version has two numbers. */
    readonly build?: number,
    /** Undefined if the version has two or three numbers. */
    readonly revision?: number,
  ) {}

  /** Reads two to four whole numbers up to 2147483647, with dots between them; blanks around them are ignored. */
  static tryParse(text: string | undefined): ParseResult<Version> {
    const [digits] = /^\d{1,10}(?:\.\d{1,10}){1,3}$/.exec((text ?? '').trim()) ?? [];
    const parts = digits?.split('.').map(Number);
    if (!parts?.every(part => part <= 0x7fff_ffff)) return { success: false };
    return { success: true, value: new Version(...(parts as [number, number])) };
  }

  /** Returns the numbers with dots between them. */
  toString(): string {
    return [this.major, this.minor, this.build, this.revision].filter(part => part !== undefined).join('.');
  }

  /** Returns what `toString()` returns. */
  toJSON(): string {
    return this.toString();
  }
}

/** A version number of two to four dotted parts. */
export const version: RuledType<Version> = scalar('version', {
  described: 'a version of two to four numbers, for example 1.2.3',
  text: text => (Version.tryParse(text) as { readonly value?: Version }).value,
  schema: { type: 'string', pattern: '^[0-9]{1,9}([.][0-9]{1,9}){1,3}$' },
});

type Value = string | number;
type EnumObject = Readonly<Record<string, Value>>;

/**
 * One of a fixed set of values: a member name in any case, or a defined value.
 * @param members a TypeScript enum, an object like one, or a list of strings.
 * @throws TypeError for anything else.
 */
export function enumOf<const E extends EnumObject | readonly string[]>(
  members: E,
  ...others: never[]
): RuledType<E extends readonly (infer V)[] ? V : E[keyof E]> {
  const isList = Array.isArray(members);
  const isMember = (value: unknown): boolean => typeof value === 'string' || (typeof value === 'number' && !isList);
  const given = typeof members === 'object' ? Object.entries<Value>(Object(members) as EnumObject) : [];
  if (given.length === 0 || !given.every(([, value]) => isMember(value)) || others.length > 0)
    throw new TypeError(
      "enumOf takes an enum, or a list of at least one string: enumOf(['draft', 'sent']), " +
        `not ${[members, ...others].map(describe).join(', ')}`,
    );
  // A numeric enum also has its values as keys (`E[1] = 'A'`).
  const entries = given.filter(([name, value]) => (members as EnumObject)[value] !== Number(name));
  const values = entries.map(([, value]) => value);
  const names = isList ? values.map(String) : entries.map(([name]) => name);
  const byName = new Map(names.map((name, at) => [name.toLowerCase(), values[at]]));
  const byValue = new Map(values.map(value => [String(value), value]));
  const find = (text: string): Value | undefined => byValue.get(text) ?? byName.get(text.toLowerCase());
  // A value may begin or end with blanks itself.
  const read = (text: string): Value | undefined => find(text) ?? find(text.trim());
  const list = `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;
  const kinds = [...new Set(values.map(value => typeof value))];
  return scalar(`enum (${list})`, {
    described: `one of ${list}`,
    text: read,
    json(value) {
      // As JSON.parse would read it: 2.50 is 2.5.
      const plain: unknown = isExactNumber(value) ? Number(value.value) : value;
      return typeof plain === 'string' || typeof plain === 'number' ? read(String(plain)) : undefined;
    },
    schema: { type: kinds.length === 1 ? kinds[0] : kinds, enum: values },
  }) as RuledType<E extends readonly (infer V)[] ? V : E[keyof E]>;
}
