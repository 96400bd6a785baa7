import { isThenable } from '../basics/awaitable';
import { isPlain } from './merge';

/** The condition on the value of an option. */
export interface Rule {
  /** Completes the sentence "headerName must be …". */
  readonly expects: string;
  accepts(value: unknown): boolean;
}

/**
 * Checks options when a middleware is made, so that a mistake is found at start-up and not by the first payment.
 * @param owner the function that takes these options, for the message.
 * @throws TypeError that names the option and its rule, or for an unknown option the nearest known name.
 */
export function checkOptions(owner: string, options: unknown, rules: Readonly<Record<string, Rule>>): void {
  if (isRequestOrResponse(options))
    throw new TypeError(`${owner} was passed to Express without being called. Mount what it returns: ${owner}(…).`);
  if (!isPlain(options) || isThenable(options))
    throw new TypeError(`${owner}: options must be an object, not ${describe(options)}`);
  for (const [name, value] of Object.entries(options as object)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) {
      const nearest = suggestion(name, Object.keys(rules));
      throw new TypeError(`${owner}: there is no option ${JSON.stringify(name)}${nearest}`);
    }
    if (value !== undefined && !rule.accepts(value))
      throw new TypeError(`${owner}: ${name} must be ${rule.expects}, not ${describe(value)}`);
  }
}

/** @param what begins the sentence "… must be an object, not …". @throws TypeError for anything else. */
export function requireObject(what: string, value: unknown): void {
  if (!isPlain(value)) throw new TypeError(`${what} must be an object, not ${describe(value)}`);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Recognizes the arguments that Express passes to a function that was mounted without being called. */
const isRequestOrResponse = (value: unknown): boolean =>
  isObject(value) && ('httpVersion' in value || 'headersSent' in value);

/** Returns true for a class that is declared with `class`: unlike a function, it cannot be called without `new`. */
export const isClass = (value: unknown): boolean =>
  typeof value === 'function' && Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const isPositiveInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** The characters of a header name (RFC 9110, section 5.6.2). Node loses a header of the name `__proto__`. */
const TOKEN = /^(?!__proto__$)[!#$%&'*+.^_`|~0-9A-Z-]+$/i;
const isHeaderName = (value: unknown): boolean => typeof value === 'string' && TOKEN.test(value);

/** Node fires a timer with a longer delay at once (its delays are 32 bits). */
export const MAX_TIMER = 2_147_483_647;

export const anything: Rule = { expects: 'anything', accepts: () => true };
export const boolean: Rule = { expects: 'true or false', accepts: value => typeof value === 'boolean' };
export const text: Rule = { expects: 'text', accepts: value => typeof value === 'string' };
export const fn: Rule = { expects: 'a function', accepts: isFunction };
export const headerName: Rule = { expects: 'an HTTP header name', accepts: isHeaderName };

/** @param what completes the sentence "additionalHeaders must be an array of …". */
export const arrayOf = (what: string, isItem: (value: unknown) => boolean): Rule => ({
  expects: `an array of ${what}`,
  accepts: value => Array.isArray(value) && value.every(one => isItem(one)),
});

export const headerNames: Rule = arrayOf('HTTP header names', isHeaderName);

const upTo = (most: number, note = ''): Rule => ({
  expects: `a whole number of milliseconds from 1 to ${most}${note}`,
  accepts: value => isPositiveInteger(value) && value <= most,
});

export const milliseconds: Rule = upTo(MAX_TIMER);
/** Where no timer runs for that long: a client, or a contract, may ask for keys that are kept for months. */
export const longMilliseconds: Rule = upTo(315_360_000_000, ' (ten years)');
export const positiveInteger: Rule = { expects: 'a whole number above zero', accepts: isPositiveInteger };

export const oneOf = (...values: readonly unknown[]): Rule => ({
  expects: values.map(describe).join(' or '),
  accepts: value => values.includes(value),
});

/**
 * Accepts objects that have these methods.
 * @param expects completes the sentence "leases must be …".
 */
export const objectWith = (expects: string, ...methods: readonly string[]): Rule => ({
  expects,
  accepts: value => isObject(value) && methods.every(method => isFunction(Reflect.get(value, method))),
});

export const object: Rule = objectWith('an object');

/** Accepts a value that at least one of the rules accepts. */
export const either = (...rules: readonly Rule[]): Rule => ({
  expects: rules.map(rule => rule.expects).join(', or '),
  accepts: value => rules.some(rule => rule.accepts(value)),
});

/** Describes a value for a message: briefly, and of an object at most a few names. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value === 'function') return 'a function';
  if (!isObject(value)) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${firstOf(value)}`;
  if (isThenable(value)) return 'a promise: await it first';
  if (!isPlain(value)) return `an instance of ${value.constructor.name || 'a class'}`;
  const names = Object.keys(value);
  return names.length > 0 && names.length <= FEW ? `an object with ${names.join(', ')}` : 'an object';
}

const FEW = 3;

function firstOf(items: readonly unknown[]): string {
  const first = items.slice(0, FEW).map(item => (isObject(item) ? 'an object' : describe(item)));
  return first.join(', ') + (items.length > FEW ? ' and others' : '');
}

/** Suggests the nearest of the known names, or lists all of them if none is near. */
function suggestion(name: string, known: readonly string[]): string {
  if (known.length === 0) return '; it takes none';
  const [closest] = known
    .map(candidate => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.distance - b.distance);
  return closest ? `; did you mean ${JSON.stringify(closest.candidate)}?` : `; there are: ${known.join(', ')}`;
}

/** Computes the Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const [diagonal = 0, above = 0] = row.slice(j - 1, j + 1);
      next.push(Math.min(above + 1, (next[j - 1] ?? 0) + 1, diagonal + Number(a[i - 1] !== b[j - 1])));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
