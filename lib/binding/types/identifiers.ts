import { describe } from '../../options/check';
import type { ParseResult } from './property-type';
import type { RuledType } from './rules';
import { scalar } from './scalar';

const PLAIN_GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** A GUID, with or without dashes, braces or parentheses; as lower-case text with dashes. */
export const guid: RuledType<string> = scalar('guid', {
  described: 'a UUID, for example 3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  text(text) {
    // The usual form; the others take ten times as long.
    if (PLAIN_GUID.test(text)) return text.toLowerCase();
    const [, ...spellings] = /^(?:\{([^{}]+)\}|\(([^()]+)\)|([^(){}]+))$/.exec(text.trim()) ?? [];
    const digits = spellings.join('');
    if (!/^(?:[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i.test(digits)) return undefined;
    const plain = digits.replaceAll('-', '').toLowerCase();
    return plain.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  },
  schema: { type: 'string', format: 'uuid' },
});

/** Finds the host in a URL of a scheme whose hosts are converted from Unicode (WHATWG URL, section 4.2). */
const HOST = /^(?:(?:https?|wss?|ftp):[/\\]*|file:[/\\]{2})(?:[^/?#\\]*@)?([^/?#\\:]*)/i;
/** Characters that a URL parser removes first. */
const LEFT_OUT = /^[\u0000-\u0020]+|[\t\n\r]/g;
/** A host name of the DNS has at most 253 characters (RFC 1035, section 2.3.4). */
const LONGEST_HOST = 253;

/**
 * Returns true for a host that costs too much to parse: the time grows with the square of a label's length, and a
 * character can become several first (NFKC).
 */
const hasHugeHost = (url: string): boolean =>
  (HOST.exec(url.replace(LEFT_OUT, ''))?.[1] ?? '').normalize('NFKC').length > LONGEST_HOST;

/**
 * An absolute URL whose scheme is http or https. Other schemes can run code or read files when a browser or a server
 * follows them.
 */
export const uri: RuledType<URL> = withSchemes('uri', ['http', 'https']);

/**
 * An absolute URL (WHATWG) of one of these schemes, in any case: `uriOf('https', 'mailto')`.
 * @throws TypeError for an invalid scheme.
 */
export function uriOf(...schemes: readonly [scheme: string, ...more: string[]]): RuledType<URL> {
  const isScheme = (scheme: unknown): boolean => typeof scheme === 'string' && /^[a-z][a-z\d+.-]*$/i.test(scheme);
  if ((schemes as readonly unknown[]).length === 0 || !schemes.every(isScheme))
    throw new TypeError(
      "uriOf: name the schemes without a colon, for example uriOf('https', 'mailto'), " +
        `not ${describe(schemes.find(scheme => !isScheme(scheme)))}`,
    );
  return withSchemes(`uri (${schemes.join(', ')})`, schemes);
}

function withSchemes(name: string, schemes: readonly string[]): RuledType<URL> {
  const protocols = new Set(schemes.map(scheme => `${scheme.toLowerCase()}:`));
  // JSON Schema has no flag for any case.
  const anyCase = (scheme: string): string =>
    scheme.replace(/[a-z]|[+.]/gi, one => `[${[...new Set([one.toUpperCase(), one.toLowerCase()])].join('')}]`);
  return scalar(name, {
    described: `a URL that begins with ${schemes.map(scheme => `${scheme}:`).join(' or ')}`,
    text(text) {
      const url = !hasHugeHost(text) && URL.canParse(text) ? new URL(text) : undefined;
      return url && protocols.has(url.protocol) ? url : undefined;
    },
    schema: { type: 'string', format: 'uri', pattern: `^(${schemes.map(anyCase).join('|')}):` },
  });
}

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
    const parts =
      /^\d{1,10}(?:\.\d{1,10}){1,3}$/
        .exec((text ?? '').trim())?.[0]
        .split('.')
        .map(Number) ?? [];
    const [major, minor, build, revision] = parts;
    if (major === undefined || minor === undefined || parts.some(part => part > 0x7fff_ffff)) return { success: false };
    return { success: true, value: new Version(major, minor, build, revision) };
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
  text(text) {
    const result = Version.tryParse(text);
    return result.success ? result.value : undefined;
  },
  schema: { type: 'string', pattern: '^[0-9]{1,9}([.][0-9]{1,9}){1,3}$' },
  // The largest number has ten digits; a pattern cannot say which others of that length are too large to be read.
  writtenSchema: { type: 'string', pattern: '^[0-9]{1,10}([.][0-9]{1,10}){1,3}$' },
});
