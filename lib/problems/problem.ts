import { STATUS_CODES } from 'node:http';
import { catalogue, type ProblemCode } from './catalogue';

export const SOURCES = ['json', 'form', 'route', 'query', 'claim', 'header', 'cookie', 'permission'] as const;
export const LOCATIONS = [...SOURCES, 'body'] as const;

/** The sources that a property can bind from. */
export type Source = (typeof SOURCES)[number];

/** The source in which an invalid value was looked up. `body` is a body that is neither JSON nor a form. */
export type ProblemLocation = (typeof LOCATIONS)[number];

/** One invalid value. */
export interface ProblemError {
  /** The name that the value was looked up under: `bindFrom`, claim, header or permission name, else the property. */
  readonly name: string;
  /** Where the value was looked up. */
  readonly in: ProblemLocation;
  /**
   * JSON Pointer (RFC 6901): the place in the JSON body, or in the JSON text that was sent as the value to which `in`
   * and the beginning of `name` lead.
   */
  readonly pointer?: string;
  /** What is wrong, as a sentence for the client. */
  readonly detail: string;
}

/** The JSON form of a problem (RFC 9457, section 3.1), with `errors` added. */
export interface ProblemBody {
  /** A URI that names the kind of problem: the beginning that the application has set, and the code. */
  type: string;
  /** What kind of problem it is, as a sentence that is the same for all of its kind. */
  title: string;
  /** The status of the response. */
  status: number;
  /** What happened to this request, and what to do. */
  detail: string;
  /** The path of the request. */
  instance?: string;
  /** The invalid values; absent for a problem of another kind. */
  errors?: readonly ProblemError[];
}

/** The optional parts of a {@link Problem}. */
interface ProblemExtras {
  readonly errors?: readonly ProblemError[];
  /** Response headers, for example `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** The kind of a problem with a code of the application's own. */
interface OwnKind {
  /** The status of the response, from 400 to 599. */
  readonly status: number;
  /** Default: the phrase of the status, for example "Conflict". */
  readonly title?: string;
}

export const isErrorStatus = (status: unknown): status is number =>
  Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599;

/** Shared by every copy of this module in the process: one copy answers the problems of another. */
const PROBLEM = Symbol.for('bindonce.problem');

/**
 * The reason why a request is refused. It has the fields that http-errors gives its errors (`status`, `statusCode`,
 * `expose`, `headers`), so that an application's own error handler can treat both alike.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  /** The status of the response. */
  readonly status: number;
  /** The same as `status`. */
  readonly statusCode: number;
  /** What kind of problem it is: the same sentence for all problems of this `code`. */
  readonly title: string;
  /** True, as in http-errors: clients may see the message. */
  readonly expose = true;
  /** The invalid values; undefined for a problem of another kind. */
  readonly errors: readonly ProblemError[] | undefined;
  /** Headers of the response, for example `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of `type`; the code follows. */
  typeBase = 'urn:bindonce:';
  /** @internal True if the request was answered with it before it was thrown, by a reader of one value. */
  isAnswered = false;

  /** @internal Returns true for a problem, also for one of another copy of this module: `instanceof` knows its own. */
  static is(value: unknown): value is Problem {
    return typeof value === 'object' && value !== null && PROBLEM in value;
  }

  /** @internal */
  get [PROBLEM](): true {
    return true;
  }

  /**
   * @param code one of bindonce, which decides the status and the title, or one of your own with a `status`.
   * @param detail the message: what happened to this request, and what to do. Clients see it.
   * @throws TypeError for a code that there is not, without a status, and for a status that is no error.
   */
  constructor(code: ProblemCode, detail: string, extras?: ProblemExtras);
  constructor(code: string, detail: string, extras: ProblemExtras & OwnKind);
  constructor(
    /** Names the kind of problem; `type` ends with it. */
    readonly code: string,
    detail: string,
    { errors, headers = {}, cause, ...own }: ProblemExtras & Partial<OwnKind> = {},
  ) {
    super(detail, cause === undefined ? undefined : { cause });
    const { status, title } = kindOf(code, own);
    this.status = status;
    this.statusCode = status;
    this.title = title;
    this.errors = errors;
    this.headers = headers;
  }

  /**
   * Returns the JSON form.
   * @param instance the path of the request.
   */
  toBody(instance?: string): ProblemBody {
    return {
      type: `${this.typeBase}${this.code}`,
      title: this.title,
      status: this.status,
      detail: this.message,
      ...(instance !== undefined && { instance }),
      ...(this.errors && { errors: this.errors }),
    };
  }
}

function kindOf(code: unknown, { status, title }: Partial<OwnKind>): Required<OwnKind> {
  const known = typeof code === 'string' && Object.hasOwn(catalogue, code) && catalogue[code as ProblemCode];
  if (known && status === undefined) return known;
  const shown = JSON.stringify(code);
  if (known) throw new TypeError(`Problem: the code ${shown} has the status ${known.status}; take one of your own`);
  const all = Object.keys(catalogue).join(', ');
  if (status === undefined || typeof code !== 'string')
    throw new TypeError(`Problem: there is no code ${shown}; there are: ${all}; one of your own needs a status`);
  if (isErrorStatus(status)) return { status, title: title ?? STATUS_CODES[status] ?? 'Error' };
  throw new TypeError(`Problem: status must be a whole number from 400 to 599, not ${JSON.stringify(status)}`);
}
