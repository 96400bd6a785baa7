import { ignoreRejection, isPromise, type Awaitable } from '../../basics/awaitable';
import { Problem, type ProblemError } from '../../problems/problem';
import type { ResolvedLimits } from './limits';

/**
 * Why a value is refused.
 * - `missing`: no source has the value, or the caller lacks the permission.
 * - `missing-in-json`: the JSON body lacks it (`jsonRequired`).
 * - `invalid`: it is not a value of the type.
 * - `several-values`: there are several values where one is expected.
 * - `several-files`: there are several files where one is expected.
 * - `file-expected`: there is text where a file is expected.
 * - `file-unexpected`: there is a file where text is expected.
 * - `too-many-items`: more items than `limits.items`.
 * - `index-too-high`: an index higher than `limits.items`.
 * - `too-deep`: nested deeper than `limits.depth`.
 * - `rule`: it breaks a rule of its type.
 * - `unknown`: no property takes the name (`unknownNames`).
 * - `schema`: a Standard Schema refuses it, in its own words.
 * - `application`: `static check`, a binder or a modifier has called `fail()`.
 */
export type FailureCode =
  | 'missing'
  | 'missing-in-json'
  | 'invalid'
  | 'several-values'
  | 'several-files'
  | 'file-expected'
  | 'file-unexpected'
  | 'too-many-items'
  | 'index-too-high'
  | 'too-deep'
  | 'rule'
  | 'unknown'
  | 'schema'
  | 'application';

/** The parts of a failure message, as far as they apply. */
export interface FailureFacts {
  /** The refused value as quoted in the message, cut to 60 characters. Absent where it must not be repeated. */
  readonly value?: string;
  /** The type that is expected, for example `int`. */
  readonly expected?: string;
  /** How many values were sent; for `index-too-high`, the index. */
  readonly count?: number;
  /** How many are allowed. */
  readonly limit?: number;
}

/** One refused value: its entry in the response, and the parts for a message of the application's own. */
export interface BindingFailure extends ProblemError, FailureFacts {
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

  /** Returns true, and notes that the list is cut, if one more failure will not be listed. */
  leavesOut(): boolean {
    const isFull = this.list.length >= this.limits.failures;
    this.isCut ||= isFull;
    return isFull;
  }
}

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
  (source === 'json' || source === 'form' || source === 'body') && (code === 'missing' || code === 'missing-in-json');

function countOf(count: number, isCut: boolean): string {
  const values = count === 1 ? 'one value is' : `${count} values are`;
  return `${isCut ? 'at least ' : ''}${values} not valid.`;
}
