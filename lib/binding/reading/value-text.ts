import { stringify } from 'lossless-json';

/** Characters that JSON escapes (RFC 8259, section 7), and halves of surrogate pairs, which JSON.stringify escapes. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * Writes a value of JSON as text. Returns undefined for a function or a symbol. Texts, numbers and booleans take less
 * time than a call of `JSON.stringify` for each.
 */
export function valueText(value: unknown): string | undefined {
  if (typeof value === 'string') return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  return stringify(value);
}

/** Thrown for a value that `JSON.stringify` cannot write, or not with all its digits. */
export const NOT_PLAIN = new Error('This value has no plain form.');

/** Returns a value of JSON, other than an object or an array, if `JSON.stringify` writes it as `valueText` does. */
export function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint' || (typeof value === 'object' && value !== null)) throw NOT_PLAIN;
  return value;
}
