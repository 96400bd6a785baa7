import BigNumber = require('bignumber.js');
import type { ProblemLocation } from '../../problems/problem';
import { isExactNumber } from '../../body/content/exact-json';
import type { Failures, FailureCode, FailureFacts } from './failures';
import { isSecret } from './secret';

/** Result of reading an invalid value. Its failure has already been reported at its location. */
export const INVALID: unique symbol = Symbol('invalid');
export type Invalid = typeof INVALID;

/** Result of reading a value of which a schema makes undefined. It was sent, so it does not count as missing. */
export const UNDEFINED: unique symbol = Symbol('undefined');

/** Returns the value that a result stands for. */
export const withoutMark = (result: unknown): unknown => (result === UNDEFINED ? undefined : result);

/** Most characters of a refused value, a name and a pointer that a response repeats. */
const LONGEST = { value: 60, name: 200, pointer: 400 };

/** Where a location is, but for the keys below its root. */
interface Root {
  readonly failures: Failures;
  readonly source: ProblemLocation;
  /** Name that the value was looked up under. */
  readonly name: string;
  /** True in a JSON document, which begins at the root: a body, or text that holds JSON. */
  readonly isJson: boolean;
  /** Name of a value that has none in its source: the property that takes the whole JSON body. */
  readonly whole?: string | undefined;
  /** The location of the text that holds this JSON document. */
  readonly outer?: Location;
}

/** The location of a value; failures are reported under it. */
export class Location {
  /** True if a failure has been reported here or below, listed or not. */
  isInvalid = false;

  /**
   * @param depth levels of objects and arrays around the value.
   * @param up the location of the object or array that holds it, if that is below the root.
   */
  private constructor(
    private readonly root: Root,
    private readonly depth: number,
    private readonly up?: Location,
    private readonly key: string | number = '',
  ) {}

  static at(failures: Failures, source: ProblemLocation, name: string): Location {
    return new Location({ failures, source, name, isJson: false }, 0);
  }

  /**
   * Makes the location of a field of a JSON body; an empty name means the body itself.
   * @param whole the property that takes the whole body, if one does.
   */
  static inJson(failures: Failures, name: string, whole?: string): Location {
    const body = new Location({ failures, source: 'json', name: '', isJson: true, whole }, 0);
    return name === '' ? body : body.below(name);
  }

  get source(): ProblemLocation {
    return this.root.source;
  }

  get failures(): Failures {
    return this.root.failures;
  }

  /** True in a JSON document: a body, or text that holds JSON. */
  get isJson(): boolean {
    return this.root.isJson;
  }

  get limits() {
    return this.failures.limits;
  }

  /** Returns the location of a property of the object here, or of an item of the array here. */
  below(key: string | number): Location {
    return new Location(this.root, this.depth + 1, this, key);
  }

  /** Returns this location as the root of a JSON document: the value is text that holds JSON. */
  asJson(): Location {
    return new Location({ ...this.root, name: this.path, isJson: true, whole: undefined, outer: this }, this.depth);
  }

  /** False if the value must not be repeated: a response must not show what the client did not send. */
  get mayQuote(): boolean {
    return this.failures.quotesValues && !this.isSecret;
  }

  /** True if nothing of the content may be repeated, whatever `quoteValues` is: no value, and no key that it brings. */
  get isSecret(): boolean {
    return isSecret(this.source, this.root.name);
  }

  /** Levels of nesting still allowed below this location. */
  get levelsLeft(): number {
    return this.limits.depth + 1 - this.depth;
  }

  /** Returns true, and reports a failure, if an object or array here is nested too deeply. */
  isTooDeep(): boolean {
    if (this.levelsLeft > 0) return false;
    this.failTooDeep();
    return true;
  }

  /** Returns true, and reports a failure, if there are more items here than allowed. */
  isTooLong(count: number): boolean {
    const { items: limit } = this.limits;
    if (count <= limit) return false;
    this.fail('too-many-items', `There are ${count} items; ${limit} are allowed.`, { count, limit });
    return true;
  }

  failTooDeep(): Invalid {
    const { depth: limit } = this.limits;
    return this.fail('too-deep', `There are more than ${limit} levels of objects and lists inside each other.`, {
      limit,
    });
  }

  fail(code: FailureCode, detail: string, facts?: FailureFacts): Invalid {
    if (this.leavesOut()) return INVALID;
    const { name, pointer } = this;
    this.failures.add({ code, name, in: this.source, ...(pointer !== undefined && { pointer }), detail, ...facts });
    return INVALID;
  }

  /** Notes that a value here is invalid. Returns true if its failure will not be listed. */
  private leavesOut(): boolean {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- a loop makes no locations and no stack.
    for (let here: Location | undefined = this; here; here = here.up ?? here.root.outer) here.isInvalid = true;
    return this.failures.leavesOut();
  }

  /** Reports a value that cannot be decoded. It is not reported as missing, too. */
  failUndecodable(detail: string): Invalid {
    this.leavesOut();
    this.failures.addAlone({ code: 'invalid', name: this.name, in: this.source, detail });
    return INVALID;
  }

  /**
   * @param detail the message. Default: the value is not what is expected.
   * @param described what is expected, in the words of that message. Default: `expected`.
   */
  failValue(value: unknown, expected: string, detail?: string, described?: string): Invalid {
    if (this.leavesOut()) return INVALID;
    const quoted = this.mayQuote ? quote(value) : undefined;
    const subject = quoted === undefined ? 'The value' : `The value ${quoted}`;
    const article = /^[aeio]/i.test(expected) ? 'an' : 'a';
    return this.fail('invalid', detail ?? `${subject} is not ${described ?? `${article} ${expected}`}.`, {
      ...(quoted !== undefined && { value: quoted }),
      expected,
    });
  }

  /** Reports a value that breaks a rule of its type. @param says completes the sentence "The value … must …". */
  failRule(noun: 'value' | 'list' | 'file', value: unknown, says: string): Invalid {
    if (this.leavesOut()) return INVALID;
    const quoted = noun === 'value' && this.mayQuote ? quote(value) : undefined;
    const subject = quoted === undefined ? `The ${noun}` : `The value ${quoted}`;
    return this.fail('rule', `${subject} must ${says}.`, quoted === undefined ? {} : { value: quoted });
  }

  failCount(count: number, expected: string): Invalid {
    return this.fail('several-values', `There are ${count} values where one is expected.`, {
      count,
      expected,
    });
  }

  failMissing(detail = 'A value is required.'): Invalid {
    return this.fail('missing', detail);
  }

  failMissingInJson(): Invalid {
    return this.fail('missing-in-json', 'The JSON body must have this value.');
  }

  /** The keys below the root. */
  private get keys(): (string | number)[] {
    return this.up ? [...this.up.keys, this.key] : [];
  }

  private get name(): string {
    return this.path || (this.root.whole ?? '');
  }

  /** The name with the parts below it, as the client sent them. */
  private get path(): string {
    let { name } = this.root;
    for (const key of this.keys) name += typeof key === 'number' ? `[${key}]` : name === '' ? key : `.${key}`;
    return cut(name, LONGEST.name);
  }

  /** The JSON pointer (RFC 6901), cut after the last part that fits into the limit; undefined outside of JSON. */
  private get pointer(): string | undefined {
    if (!this.isJson) return undefined;
    let pointer = '';
    for (const key of this.keys) {
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
