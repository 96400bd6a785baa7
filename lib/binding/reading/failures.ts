import { Problem, type ProblemError } from '../../problems/problem';
import type { ResolvedLimits } from './limits';

/** What can be wrong with a value. */
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
  | 'schema'
  | 'application';

/** What a message is made of, as far as the failure has it. */
export interface FailureFacts {
  /** The refused value as it is quoted: in quotation marks if it is text, and cut to a bounded length. Absent where it must not be repeated. */
  readonly value?: string;
  /** The type that is expected, for example `int`. */
  readonly expected?: string;
  /** How many there are. */
  readonly count?: number;
  /** How many there may be. */
  readonly limit?: number;
}

/** One refused value: what stands in the answer, and what another message can be made of. */
export interface BindingFailure extends ProblemError, FailureFacts {
  readonly code: FailureCode;
}

/** The failures of one request, bounded: an answer must not grow with the mistakes in a request. */
export class Failures {
  readonly list: BindingFailure[] = [];

  /** @param quotesValues false where no refused value is repeated. */
  constructor(
    readonly limits: Pick<ResolvedLimits, 'fields' | 'items' | 'depth' | 'failures'>,
    readonly quotesValues = true,
  ) {}

  get isFull(): boolean {
    return this.list.length >= this.limits.failures;
  }

  add(failure: BindingFailure): void {
    if (!this.isFull) this.list.push(failure);
  }
}

/**
 * The refusal of a request in which values are missing or unreadable: 400, or 403 where permissions are all that is
 * missing, so that nothing the client sends can mend it.
 * @param messageFor what is said of a failure in place of its own text, in another language for example.
 */
export function validationProblem(
  failures: readonly BindingFailure[],
  messageFor?: (failure: BindingFailure) => string | undefined,
): Problem {
  const errors = failures.map((failure): ProblemError => {
    const { name, in: source, pointer, detail } = failure;
    const message: unknown = messageFor?.(failure);
    // Only text will do; what comes later comes too late, and must not end the process if it fails.
    if (message instanceof Promise) message.catch(() => undefined);
    return {
      name,
      in: source,
      ...(pointer !== undefined && { pointer }),
      detail: typeof message === 'string' ? message : detail,
    };
  });
  const isForbidden =
    failures.length > 0 && failures.every(({ in: source, code }) => source === 'permission' && code === 'missing');
  if (isForbidden)
    return new Problem('forbidden', 'The user does not have a permission that this endpoint requires.', { errors });
  return new Problem(
    'validation-failed',
    errors.length === 1 ? 'One value is not valid.' : `${errors.length} values are not valid.`,
    { errors },
  );
}
