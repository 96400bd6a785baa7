import { createHash } from 'node:crypto';
import { Problem } from '../../problems/problem';
import { inNameOrder } from './name-order';

/** Levels of nested objects. JSON may have hundreds of thousands, and each takes some of the stack. */
const MOST_LEVELS = 1_000;

/** Characters of a body that takes part as text: to hash it apart takes 5 µs. */
const SHORT = 4_096;

/**
 * Returns what a parser has left in `req.body`, which may be what JSON knows: equal for equal values only.
 * @param isForm true if the names of the body are those of a form, which may come in any order.
 * @throws Error for a value of any other kind, since its hidden parts could differ; Problem with status 413 for one
 * that is nested too deeply.
 */
export function parsedParts(body: unknown, isForm = false): readonly [kind: string, text: string] {
  const pieces: string[] = [];
  write(body, isForm, 0, pieces);
  const text = pieces.join('');
  // As UTF-16: in UTF-8, all halves of surrogate pairs would be the same character.
  return text.length <= SHORT ? ['json', text] : ['digest', createHash('sha256').update(text, 'utf16le').digest('hex')];
}

function write(value: unknown, isForm: boolean, level: number, pieces: string[]): void {
  if (level > MOST_LEVELS)
    throw new Problem(
      'body-too-large',
      `The request body has objects or lists nested more than ${MOST_LEVELS} levels deep. Nest it less deeply.`,
    );
  if (typeof value === 'string') pieces.push(`s${value.length}:${value}`);
  else if (typeof value === 'number') pieces.push(`n${Object.is(value, -0) ? '-0' : value};`);
  else if (typeof value === 'boolean' || value === null || value === undefined) pieces.push(`${value};`);
  else {
    // Entries, so that the holes of an array are skipped: multer makes 4 294 967 294 of them out of `t[4294967295]=x`.
    const entries = Object.entries(checked(value));
    pieces.push(`${Array.isArray(value) ? 'a' : 'o'}${entries.length};`);
    for (const [name, one] of isForm && !Array.isArray(value) ? inNameOrder(entries) : entries) {
      pieces.push(`s${name.length}:${name}`);
      write(one, false, level + 1, pieces);
    }
  }
}

/** @throws Error for any other value than an array, or an object without a class. */
export function checked(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) {
    const prototype: unknown = Object.getPrototypeOf(value);
    // Objects of `querystring`, and those of another realm, have prototypes of their own.
    if (Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null)
      return value as Readonly<Record<string, unknown>>;
  }
  throw new Error(
    `idempotency: req.body holds ${kindOf(value)}, which is no JSON and cannot be compared. Mount idempotency() ` +
      'before the parser, or set req.rawBody to the bytes.',
  );
}

function kindOf(value: unknown): string {
  const { constructor } = Object(value) as { constructor?: { name?: string } };
  return typeof value === 'object' ? `an object of the class ${constructor?.name ?? '?'}` : `a ${typeof value}`;
}
