import type { Request } from 'express';
import type { Pair } from '../../body/content/urlencoded';
import type { ProblemLocation } from '../../problems/problem';
import { after, type Awaitable } from '../../basics/awaitable';
import type { BinderContext } from '../input/binder-context';
import { readBody, type Body } from '../input/body';
import type { Location } from '../reading/location';
import type { Plan } from '../plan/plan';
import type { ResolvedOptions } from '../input/resolved-options';
import { hasParts } from '../reading/name-parts';
import { queryOf } from './query-pairs';

/** A name as it was sent, and in lower case. */
interface NameWithParts {
  readonly sent: string;
  readonly anyCase: string;
}

/** A request whose body has been read: all that values are taken from. */
export class RequestInput {
  private pairs: readonly Pair[] | undefined;
  private names: readonly NameWithParts[] | undefined;

  private constructor(
    private readonly context: BinderContext,
    readonly plan: Plan,
    readonly body: Body,
  ) {}

  /** Reads the body. @throws a problem for a body that cannot be read. */
  static open(context: BinderContext): Awaitable<RequestInput> {
    const {
      req,
      res,
      endpoint: { plan, options },
    } = context;
    if (!plan)
      throw new TypeError('bindRequest: the built-in binder binds dto classes, list(Dto) and Standard Schemas only.');
    return after(readBody(req, res, plan.body, options), body => new RequestInput(context, plan, body));
  }

  get req(): Request {
    return this.context.req;
  }

  get options(): ResolvedOptions {
    return this.context.endpoint.options;
  }

  /** The query, which is read once. @throws a 414 problem for too many parameters. */
  get query(): readonly Pair[] {
    return (this.pairs ??= queryOf(this.req, this.options.limits.fields));
  }

  /** The names of query parameters and form fields that have several parts. */
  get namesWithParts(): readonly NameWithParts[] {
    const { body } = this;
    const form = body.kind === 'form' || body.kind === 'text' ? body.form : undefined;
    return (this.names ??= [...this.query, ...(form?.fields ?? [])]
      .filter(([name]) => hasParts(name))
      .map(([sent]) => ({ sent, anyCase: sent.toLowerCase() })));
  }

  /** Why the body has no values; undefined if it may have some. */
  get emptyBody(): string | undefined {
    const { body } = this;
    if (body.kind === 'none') return 'the request has no body';
    return body.kind === 'json' && body.value === null ? 'the body is null' : undefined;
  }

  /** True if no further failure is listed. */
  get isFull(): boolean {
    return this.context.failures.length >= this.options.limits.failures;
  }

  /** True if the JSON body as a whole has been refused. */
  get isJsonRefused(): boolean {
    return this.context.failures.some(failure => failure.in === 'json' && failure.pointer === '');
  }

  /** Makes the location of a value; failures are reported under it. An empty name is the whole JSON body. */
  locationOf(source: ProblemLocation, name: string): Location {
    return this.context.locationOf(source, name);
  }
}
