import { after, type Awaitable } from '../basics/awaitable';
import type { Member } from './declaration/members';
import type { Binder, BinderContext } from './input/binder-context';
import { readBody, type Body } from './input/body';
import { lookupOf } from './plan/lookup';
import type { Plan } from './plan/plan';
import { sourcesInOrder } from './sources/order';
import { readNothing, setOn } from './types/read-json';

/** The built-in binder, made to be extended: `const dto = await super.bind(context, signal)`. */
export class RequestBinder<T = unknown> implements Binder<T> {
  /** @throws a problem that lists the failures of all sources, so code after the call runs only on success. */
  async bind(context: BinderContext<T>, signal: AbortSignal): Promise<T> {
    return (await bindDeclared(context, signal)) as T;
  }
}

/** Binds as the built-in binder does: synchronously, if nothing has to be awaited. */
export function bindDeclared(context: BinderContext, signal?: AbortSignal): Awaitable<unknown> {
  const {
    req,
    res,
    endpoint: { plan, options },
  } = context;
  if (!plan)
    throw new TypeError('bindRequest: the built-in binder binds dto classes, list(Dto) and Standard Schemas only.');
  return after(context.body ?? readBody(req, res, plan.body, options), body => {
    signal?.throwIfAborted();
    context.body = body;
    const dto = readDto(context, plan);
    return after(context.settle(), () => {
      if (context.failures.length > 0) context.refuse(emptyBody(body));
      const fail = (name: string, reason: string): void => {
        context.fail(name, reason);
      };
      return after(plan.check?.(dto, fail), () => {
        context.refuse();
        return plan.result(dto);
      });
    });
  });
}

/**
 * Reads source after source, each overwriting values of earlier ones, and then reports the required properties that are
 * still missing.
 */
function readDto(context: BinderContext, plan: Plan): object {
  const values = new Array<unknown>(plan.members.length);
  for (const source of sourcesInOrder) {
    const properties = plan.sourceProperties.get(source.name);
    if (properties) source.read(context, properties, values);
  }
  const dto = plan.create();
  for (const member of plan.members) {
    const value = values[member.index];
    const isMissing = value === undefined && member.required;
    setOn(dto, member.property, isMissing ? readMissing(context, plan, member) : value, context.noted);
  }
  plan.complete?.(dto);
  return dto;
}

/** Handles a missing value. A failure is reported where this client would have sent the value. */
export function readMissing(context: BinderContext, plan: Plan, member: Member): unknown {
  const { source, found } = lookupOf(member.property, plan, context.req) ?? { source: 'body' as const };
  const missing =
    member.spec.kind === 'fromBody'
      ? 'A JSON body is required.'
      : sourcesInOrder.find(({ name }) => name === source)?.missing;
  return readNothing(member, context.locationOf(source, found?.name ?? member.property), missing);
}

/** Says why a body has no values; undefined if it may have some. */
function emptyBody(body: Body): string | undefined {
  if (body.kind === 'none') return 'the request has no body';
  return body.kind === 'json' && body.value === null ? 'the body is null' : undefined;
}
