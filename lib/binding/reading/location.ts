import BigNumber = require('bignumber.js');
import type { ProblemLocation } from '../../problems/problem';
import { isExactNumber } from '../../body/content/exact-json';
import type { Failures, FailureCode, FailureFacts } from './failures';

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

  get limits() {
    return this.failures.limits;
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
    else if (items > limit)
      this.fail('too-many-items', `There are ${items} items; ${limit} are allowed.`, { count: items, limit });
    else return false;
    return true;
  }

  failTooDeep(): Invalid {
    const { depth: limit } = this.limits;
    const detail = `There are more than ${limit} levels of objects and lists inside each other.`;
    return this.fail('too-deep', detail, { limit });
  }

  fail(code: FailureCode, detail: string, facts?: FailureFacts): Invalid {
    for (const one of this.above) one.isInvalid = true;
    if (this.failures.leavesOut()) return INVALID;
    const pointer = this.isJson ? { pointer: this.pointer } : undefined;
    this.failures.list.push({ code, name: this.name, in: this.source, ...pointer, detail, ...facts });
    return INVALID;
  }

  /**
   * @param detail the message. Default: the value is not what is expected.
   * @param described what is expected, in the words of that message. Default: `expected`.
   */
  failValue(value: unknown, expected: string, detail?: string, described?: string): Invalid {
    const { subject, ...quoted } = this.quoted(value);
    const article = /^[aeio]/i.test(expected) ? 'an' : 'a';
    const message = detail ?? `${subject} is not ${described ?? `${article} ${expected}`}.`;
    return this.fail('invalid', message, { ...quoted, expected });
  }

  /** Reports a value that breaks a rule of its type. @param says completes the sentence "The value … must …". */
  failRule(noun: 'value' | 'list' | 'file', value: unknown, says: string): Invalid {
    const { subject, ...quoted } = noun === 'value' ? this.quoted(value) : { subject: `The ${noun}` };
    return this.fail('rule', `${subject} must ${says}.`, quoted);
  }

  failMissing(detail = 'A value is required.'): Invalid {
    return this.fail('missing', detail);
  }

  /** The value as messages repeat it, if they may. */
  private quoted(value: unknown): { readonly subject: string; readonly value?: string } {
    // A body can be wrong in a million places, of which few are listed.
    if (this.failures.isCut || !this.mayQuote) return { subject: 'The value' };
    const quoted = quote(value);
    return { subject: `The value ${quoted}`, value: quoted };
  }

  /** The locations from the outermost to this one. */
  private get above(): readonly Location[] {
    const all: Location[] = [];
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- a loop takes no stack.
    for (let here: Location | undefined = this; here; here = here.up) all.unshift(here);
    return all;
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

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
