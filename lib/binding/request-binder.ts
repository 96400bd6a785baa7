import { after, type Awaitable } from '../basics/awaitable';
import type { Binder, BinderContext } from './input/binder-context';
import { readBody } from './input/body';
import { isJsonObject, ownValue } from './reading/json-text';
import type { Member } from './declaration/members';
import { isEmptyWithoutBody, lookupOf } from './plan/lookup';
import type { Plan } from './plan/plan';
import type { WholeBody } from './plan/whole-source';
import type { FoundValues } from './reading/found-values';
import { takesNull } from './types/codec';
import { emptyList, readNothing, readOptionalJson } from './types/read-json';
import { RequestInput } from './sources/request-input';
import { sourcesInOrder } from './sources/order';

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
    const input = new RequestInput(context, body);
    const dto = plan.create();
    const values = new Array<unknown>(plan.count);
    findValues(input, plan, dto, context.foundOn(values));
    return after(context.settle(), () => {
      context.refuse(input.emptyBody);
      plan.set(dto, values);
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
 * Binds the whole body, if one property takes it; then source after source, each overwriting values of earlier ones;
 * then the required properties that are still missing. Failures are reported to the context.
 */
function findValues(input: RequestInput, plan: Plan, dto: object, found: FoundValues): void {
  const refusesUnknown = input.options.unknownNames === 'refuse';
  if (plan.wholeBody) bindWhole(plan.wholeBody, input, found);
  for (const source of sourcesInOrder) {
    const ifNone = source.name === 'query' && refusesUnknown ? [] : undefined;
    const sourceProperties = plan.sourceProperties.get(source.name) ?? ifNone;
    if (sourceProperties) source.read(input, sourceProperties, found);
  }
  bindMissingInJson(input, plan, found);
  for (const member of plan.required) {
    const { index, property, spec } = member;
    if (!found.has(index) && (spec.requiresValue || ownValue(dto, property) === undefined))
      found.put(index, readMissing(input, plan, member));
  }
}

/** Binds the whole body to one property. */
function bindWhole({ kind, member }: WholeBody, input: RequestInput, found: FoundValues): void {
  const { body, req } = input;
  const { codec, index, required, refusesNull } = member;
  switch (kind) {
    case 'json':
      // A body `null` has no values, like no body at all, unless the type accepts null.
      if (body.kind === 'json' && (body.value !== null || takesNull(codec) || refusesNull))
        found.put(index, readOptionalJson(member, body.value, input.locationOf('json', '')));
      if (body.kind === 'none' && required && isEmptyWithoutBody(member, req.method))
        found.put(index, emptyList(codec, input.locationOf('json', '')));
      return;
    case 'text':
      if (body.kind === 'text') found.put(index, body.text);
  }
}

/** Reports `jsonRequired` properties that the JSON body itself does not contain, even if another source has them. */
function bindMissingInJson(input: RequestInput, plan: Plan, found: FoundValues): void {
  const { body } = input;
  if (plan.jsonRequired.length === 0 || input.isJsonRefused) return;
  const json = body.kind === 'json' && isJsonObject(body.value) ? body.value : {};
  for (const sourceProperty of plan.jsonRequired) {
    if (!Object.hasOwn(json, sourceProperty.name))
      found.put(sourceProperty.index, input.locationOf('json', sourceProperty.name).failMissingInJson());
  }
}

/** Handles a missing value. A failure is reported where this client would have sent the value. */
function readMissing(input: RequestInput, plan: Plan, member: Member): unknown {
  const { source, name } = lookupOf(member.property, plan, input.req) ?? { source: 'body', name: member.property };
  // A body that is not an object has been reported already; do not report each of its fields as missing, too.
  if (source === 'json' && name !== '' && input.isJsonRefused) return undefined;
  const missing =
    member.spec.kind === 'fromBody'
      ? 'A JSON body is required.'
      : sourcesInOrder.find(one => one.name === source)?.missing;
  return readNothing(member, input.locationOf(source, name), missing);
}
