import { asJson } from './json-text';

/**
 * Returns the text of a route parameter or a form field. A middleware in front may have converted it to a number, a
 * boolean, or a date (celebrate, express-validator, `router.param()`). Undefined for a value that has no text.
 */
export function convertedText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const json = asJson(value);
  return textual.has(typeof json) ? String(json) : undefined;
}

const textual: ReadonlySet<string> = new Set(['string', 'number', 'bigint', 'boolean']);
