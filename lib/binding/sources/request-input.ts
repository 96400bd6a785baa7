import type { Request } from 'express';
import type { ProblemLocation } from '../../problems/problem';
import { after, type Awaitable } from '../../basics/awaitable';
import type { BinderContext } from '../input/binder-context';
import { readBody, type Body } from '../input/body';
import type { Location } from '../reading/location';
import type { Plan } from '../plan/plan';
import type { ResolvedOptions } from '../input/resolved-options';

/** A request whose body has been read: all that values are taken from. */
export class RequestInput {
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

  /** True if the JSON body as a whole has been refused. */
  get isJsonRefused(): boolean {
    return this.context.failures.some(failure => failure.in === 'json' && failure.pointer === '');
  }

  /** Makes the location of a value; failures are reported under it. An empty name is the whole JSON body. */
  locationOf(source: ProblemLocation, name: string): Location {
    return this.context.locationOf(source, name);
  }
}
