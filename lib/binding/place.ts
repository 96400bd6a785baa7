import { isLosslessNumber } from 'lossless-json';
import type { ProblemError, ProblemLocation } from '../problems/problem';

/** What reading a value comes to when it cannot be read; the failure has been noted at its place. */
export const INVALID: unique symbol = Symbol('invalid');
export type Invalid = typeof INVALID;

/** Characters of a refused value that are repeated in a message. */
const QUOTED_LENGTH = 60;

/** The failures of one request, bounded: an answer must not grow with the mistakes in a request. */
export class Failures {
  readonly list: ProblemError[] = [];

  constructor(private readonly limit: number) {}

  add(failure: ProblemError): void {
    if (this.list.length < this.limit) this.list.push(failure);
  }
}

/** Where a value was found: what a failure is reported under. */
export class Place {
  constructor(
    readonly failures: Failures,
    readonly source: ProblemLocation,
    readonly name: string,
    /** Items that a collection may have. */
    readonly maxItems: number,
    /** RFC 6901; only inside JSON. */
    readonly pointer?: string,
  ) {}

  /** The place of a property of the JSON object here. */
  property(name: string): Place {
    return this.child(this.name === '' ? name : `${this.name}.${name}`, name);
  }

  /** The place of an item of the JSON array here. */
  item(index: number): Place {
    return this.child(`${this.name}[${index}]`, String(index));
  }

  /** The same name, read as JSON from here on. */
  asJson(): Place {
    return new Place(this.failures, this.source, this.name, this.maxItems, '');
  }

  fail(detail: string): Invalid {
    this.failures.add({ name: this.name, in: this.source, ...(this.pointer !== undefined && { pointer: this.pointer }), detail });
    return INVALID;
  }

  failValue(value: unknown, expected: string): Invalid {
    return this.fail(`The value ${quoted(value)} is not ${/^[aeio]/i.test(expected) ? 'an' : 'a'} ${expected}.`);
  }

  failMissing(): Invalid {
    return this.fail('A value is required.');
  }

  private child(name: string, token: string): Place {
    // RFC 6901, section 3: `~` and `/` are escaped.
    const escaped = token.replaceAll('~', '~0').replaceAll('/', '~1');
    return new Place(this.failures, this.source, name, this.maxItems, `${this.pointer ?? ''}/${escaped}`);
  }
}

/** Never asks the value itself for its text: `{"toString": 1}` is JSON, too. */
function quoted(value: unknown): string {
  if (isLosslessNumber(value)) return cut(value.value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}';
  return typeof value === 'string' ? JSON.stringify(cut(value)) : cut(String(value));
}

function cut(text: string): string {
  return text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)}…` : text;
}
