/**
 * Writes the pattern of a key as JSON Schema has patterns: ECMA-262 with the flag `u`, and no other flag. Undefined
 * where that would not match the same keys.
 *
 * A key is one header value, so it has no line break, and no character above U+00FF: `m`, `s` and the difference
 * between code units and code points do not matter. `g` and `d` do not matter for a test from the start, which `y` ties
 * the match to.
 */
export function jsonSchemaPattern({ source, flags, unicode, ignoreCase, sticky }: RegExp): string | undefined {
  if (flags.includes('v')) return undefined;
  // Without `u`, `\u{61}` is 61 times "u", and `\p{L}` the text "p{L}".
  if (!unicode && /\\u\{|\\p\{/i.test(source)) return undefined;
  const anyCase = ignoreCase ? inAnyCase(source) : source;
  if (anyCase === undefined || !isValid(anyCase)) return undefined;
  return sticky ? `^(?:${anyCase})` : anyCase;
}

function isValid(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

/** The parts of a pattern: the beginning of a group, an escape, a class, any other character. */
const PARTS = /\(\?(?:[:=!]|<[=!])|\\[^]|\[(?:\\[^]|[^\]\\])*\]|[^]/g;
/** Escapes that match the same characters in any case; of others, such as `\x41`, that is not known here. */
const CASELESS = /^\\[dDsSwWbB^$\\.*+?()[\]{}|/-]$/;

/** Writes both cases of each letter; undefined for a pattern that is not simple enough. */
function inAnyCase(source: string): string | undefined {
  // Letters beyond ASCII have other cases than their two, and a group's name is not a letter to match.
  if (/[^\x00-\x7f]/.test(source) || /\(\?(?![:=!]|<[=!])/.test(source)) return undefined;
  const parts = [...source.matchAll(PARTS)].map(([part]) => {
    if (part.startsWith('(?')) return part;
    if (part.startsWith('\\')) return CASELESS.test(part) ? part : undefined;
    if (part.startsWith('[')) return classInAnyCase(part);
    return isLetter(part) ? `[${part.toLowerCase()}${part.toUpperCase()}]` : part;
  });
  return parts.includes(undefined) ? undefined : parts.join('');
}

const isLetter = (text: string): boolean => /^[a-z]$/i.test(text);

/** The parts of a class: a range, an escape, any other character. */
const CLASS_PARTS = /[^\\]-[^\\]|\\[^]|[^]/g;

function classInAnyCase(text: string): string | undefined {
  const [, start = '', inside = ''] = /^(\[\^?)([^]*)\]$/.exec(text) ?? [];
  const parts = [...inside.matchAll(CLASS_PARTS)].map(([part]) => {
    if (part.startsWith('\\')) return CASELESS.test(part) ? part : undefined;
    if (part.length === 1) return isLetter(part) ? `${part.toLowerCase()}${part.toUpperCase()}` : part;
    // A range of letters of one case; others, such as `A-z`, hold more than letters.
    if (/^(?:[a-z]-[a-z]|[A-Z]-[A-Z])$/.test(part)) return `${part.toLowerCase()}${part.toUpperCase()}`;
    return /^\d-\d$/.test(part) ? part : undefined;
  });
  return parts.includes(undefined) ? undefined : `${start}${parts.join('')}]`;
}
