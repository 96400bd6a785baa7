import BigNumber = require('bignumber.js');
import { ignoreRejection, isPromise, type Awaitable } from '../../basics/awaitable';
import { isExactNumber } from '../../body/content/exact-json';
import { Problem, type ProblemError, type ProblemLocation } from '../../problems/problem';
import type { ResolvedLimits } from './limits';

/**
 * Why a value is refused.
 * - `missing`: no source has the value, the JSON body lacks it (`jsonRequired`), or the caller lacks the permission.
 * - `invalid`: it is not a value of the type.
 * - `several-values`: there are several values, or files, where one is expected.
 * - `too-many-items`: more items, or a higher index, than `limits.items`.
 * - `too-deep`: nested deeper than `limits.depth`.
 * - `rule`: it breaks a rule of its type.
 * - `unknown`: no property takes the name (`unknownNames`).
 * - `schema`: a Standard Schema refuses it, in its own words.
 * - `application`: `static check`, a binder or a modifier has called `fail()`.
 */
export type FailureCode =
  | 'missing'
  | 'invalid'
  | 'several-values'
  | 'too-many-items'
  | 'too-deep'
  | 'rule'
  | 'unknown'
  | 'schema'
  | 'application';

/** One refused value: its entry in the response, and why. */
export interface BindingFailure extends ProblemError {
  /** Why the value is refused. */
  readonly code: FailureCode;
}

/** The failures of one request, up to `limits.failures`: a response must not grow with the number of mistakes. */
export class Failures {
  readonly list: BindingFailure[] = [];
  /** True if there are failures that are not listed. */
  isCut = false;
  private readonly promised: Promise<void>[] = [];
  private readonly checks: (() => Awaitable<unknown>)[] = [];

  /**
   * @param quotesValues false if no refused value may be repeated.
   * @param refusesUnknown true if names that no property takes are failures.
   * @param nameOfBody the name of the whole JSON body, if one property takes it.
   */
  constructor(
    readonly limits: Pick<ResolvedLimits, 'bodyBytes' | 'fields' | 'items' | 'depth' | 'failures'>,
    readonly quotesValues = true,
    readonly refusesUnknown = false,
    readonly nameOfBody = '',
  ) {}

  /** Waits for a value, before the request counts as read. @param use called with it. */
  later(value: Promise<unknown>, use: (known: unknown) => void): void {
    const used = value.then(use);
    // If another step has already failed, no one awaits it.
    ignoreRejection(used);
    this.promised.push(used);
  }

  /** Calls a check when all values are known, and those before it have answered. */
  whenKnown(check: () => Awaitable<unknown>): void {
    this.checks.push(check);
  }

  /** Waits for all values that are not known yet, and for those of which they are made; then for the checks. */
  settle(): Awaitable<void> {
    if (this.promised.length > 0) return Promise.all(this.promised.splice(0)).then(() => this.settle());
    for (let check = this.checks.shift(); check; check = this.checks.shift()) {
      const done = check();
      if (isPromise(done)) return done.then(() => this.settle());
    }
    return undefined;
  }
}

/**
 * Result of reading a value that was sent, so that it is not missing, and is not set: its failure has been reported at
 * its location, or a schema has made undefined of it.
 */
export const INVALID: unique symbol = Symbol('invalid');
export type Invalid = typeof INVALID;

/** Most characters of a refused value, a name and a pointer that a response repeats. */
const LONGEST = { value: 60, name: 200, pointer: 400 };

/** A header with one of these words in its name carries credentials: Authorization, Cookie, X-Api-Key, X-CSRF-Token. */
const CREDENTIAL = /auth|token|secret|passw|credential|cookie|session|signature|jwt|key|csrf|xsrf/i;

/** What the client did not type, or an HttpOnly cookie of it: a response never repeats it. */
const SECRET: ReadonlySet<ProblemLocation> = new Set(['claim', 'permission', 'cookie']);

/** Where a value was sent: a path of names and indexes. Failures are reported under it. */
export class Location {
  /**
   * @param isJson true in a JSON document: a body, or text that holds JSON.
   * @param depth levels of objects and arrays around the value.
   * @param key the name that the value was looked up under, or its name or index in the object or array at `up`;
   * undefined where a JSON document begins.
   * @param isInvalid true if a failure has been reported here or below, listed or not.
   */
  private constructor(
    readonly failures: Failures,
    readonly source: ProblemLocation,
    readonly isJson: boolean,
    readonly depth: number,
    private readonly key: string | number | undefined,
    private readonly up?: Location,
    public isInvalid = false,
  ) {}

  /** Makes the location of a value in a source. An empty name is the whole JSON body. */
  static of(failures: Failures, source: ProblemLocation, name: string): Location {
    if (source !== 'json') return new Location(failures, source, false, 0, name);
    const body = new Location(failures, source, true, 0, undefined);
    return name === '' ? body : body.below(name);
  }

  /** Returns the location of a property of the object here, or of an item of the array here. */
  below(key: string | number): Location {
    return new Location(this.failures, this.source, this.isJson, this.depth + 1, key, this);
  }

  /** Returns the location of a property of the object here, under the client's name for it. */
  property({ jsonName, bindName }: { readonly jsonName: string; readonly bindName: string }): Location {
    return this.below(this.isJson ? jsonName : bindName);
  }

  /** Returns this location as the root of a JSON document: the value is text that holds JSON. */
  asJson(): Location {
    return new Location(this.failures, this.source, true, this.depth, undefined, this);
  }

  /** False if the value must not be repeated: a response must not show what the client did not send. */
  get mayQuote(): boolean {
    return this.failures.quotesValues && !this.isSecret;
  }

  /** True if nothing of the content may be repeated, whatever `quoteValues` is: no value, and no key that it brings. */
  get isSecret(): boolean {
    return SECRET.has(this.source) || (this.source === 'header' && CREDENTIAL.test(String(this.above[0]?.key)));
  }

  /** Returns true, and reports a failure, if an object or array here is too deep or has too many items. */
  isTooLarge(items = 0): boolean {
    const { depth, items: limit } = this.failures.limits;
    if (this.depth > depth) this.failTooDeep();
    else if (items > limit) this.fail('too-many-items', `There are ${items} items; ${limit} are allowed.`);
    else return false;
    return true;
  }

  failTooDeep(): Invalid {
    return this.fail(
      'too-deep',
      `There are more than ${this.failures.limits.depth} levels of objects and lists inside each other.`,
    );
  }

  fail(code: FailureCode, detail: string): Invalid {
    for (const one of this.above) one.isInvalid = true;
    const { list, limits } = this.failures;
    if (list.length >= limits.failures) {
      this.failures.isCut = true;
      return INVALID;
    }
    const pointer = this.isJson ? { pointer: this.pointer } : undefined;
    list.push({ code, name: this.name, in: this.source, ...pointer, detail });
    return INVALID;
  }

  /** @param expected completes the sentence "The value … is not …". */
  failValue(value: unknown, expected: string): Invalid {
    return this.fail('invalid', `${this.subject(value)} is not ${expected}.`);
  }

  /** Reports a value that breaks a rule of its type. @param says completes the sentence "The value … must …". */
  failRule(noun: 'value' | 'list' | 'file', value: unknown, says: string): Invalid {
    return this.fail('rule', `${noun === 'value' ? this.subject(value) : `The ${noun}`} must ${says}.`);
  }

  failMissing(detail = 'A value is required.'): Invalid {
    return this.fail('missing', detail);
  }

  /** The value as messages repeat it, if they may. A body can be wrong in a million places, of which few are listed. */
  private subject(value: unknown): string {
    return this.failures.isCut || !this.mayQuote ? 'The value' : `The value ${quote(value)}`;
  }

  /** The locations from the outermost to this one. */
  private get above(): readonly Location[] {
    return [...(this.up?.above ?? []), this];
  }

  /** The name with the parts below it, as the client sent them. */
  private get name(): string {
    let name = '';
    for (const { key } of this.above)
      if (key !== undefined) name += typeof key === 'number' ? `[${key}]` : name === '' ? key : `.${key}`;
    // The whole JSON body has the name of the property that takes it.
    return cut(name, LONGEST.name) || (this.source === 'json' ? this.failures.nameOfBody : '');
  }

  /** The JSON pointer (RFC 6901), cut after the last part that fits into the limit. */
  private get pointer(): string {
    let pointer = '';
    const { above } = this;
    for (const { key = '' } of above.slice(above.findLastIndex(one => one.key === undefined) + 1)) {
      // RFC 6901, section 3: `~` and `/` are escaped.
      const longer = `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (longer.length > LONGEST.pointer) break;
      pointer = longer;
    }
    return pointer;
  }
}

/** Quotes a value without calling its methods: `{"toString": 1}` is JSON, too. */
function quote(value: unknown): string {
  if (isExactNumber(value)) return cut(value.value, LONGEST.value);
  if (BigNumber.isBigNumber(value)) return cut(value.toFixed(), LONGEST.value);
  if (value instanceof Date) return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}';
  return typeof value === 'string' ? JSON.stringify(cut(value, LONGEST.value)) : cut(String(value), LONGEST.value);
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text);

/**
 * Makes the problem that refuses a request with missing or invalid values, or without permissions: 400.
 * @param messageFor returns a text instead of a failure's own, for example in another language.
 * @param emptyBody why the body has no values, if it has none: said first if it lacks one.
 */
export function validationProblem(
  { list: failures, isCut }: Pick<Failures, 'list' | 'isCut'>,
  messageFor?: (failure: BindingFailure) => string | undefined,
  emptyBody?: string,
): Problem {
  const errors = failures.map((failure): ProblemError => {
    const { name, in: source, pointer, detail } = failure;
    const message: unknown = messageFor?.(failure);
    // Only text counts: a promise resolves too late to be used.
    ignoreRejection(message);
    const text = typeof message === 'string' ? message : detail;
    return { name, in: source, ...(pointer !== undefined && { pointer }), detail: text };
  });
  const count = countOf(errors.length, isCut);
  const detail = emptyBody !== undefined && failures.some(isMissingInBody) ? `${emptyBody}; ${count}` : count;
  return new Problem('validation-failed', `${detail.charAt(0).toUpperCase()}${detail.slice(1)}`, { errors });
}

const isMissingInBody = ({ in: source, code }: BindingFailure): boolean =>
  code === 'missing' && (source === 'json' || source === 'form' || source === 'body');

const countOf = (count: number, isCut: boolean): string =>
  `${isCut ? 'at least ' : ''}${count === 1 ? 'one value is' : `${count} values are`} not valid.`;
