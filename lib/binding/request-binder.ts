import type { Binder } from './binder';
import type { BinderContext } from './binder-context';
import { isJsonObject } from './json/json-text';
import { isSafe, lookupOf } from './plan/lookup';
import { after, type Awaitable } from './reading/awaitable';
import { Filling } from './reading/filling';
import { readNothing } from './reading/reading';
import { RequestInput } from './input/request-input';
import type { Slot } from './plan/slots';
import { sourcesInOrder } from './sources/order';

/** The built-in binder, made to be extended: `const dto = await super.bind(context, signal)`. */
export class RequestBinder<T = unknown> implements Binder<T> {
  /** @throws a problem that lists every failure of every source: what follows a call runs on success only. */
  async bind(context: BinderContext<T>, signal: AbortSignal): Promise<T> {
    return await bindDeclared(context, signal) as T;
  }
}

/** What the built-in binder does, at once where nothing has to be waited for. */
export function bindDeclared(context: BinderContext, signal?: AbortSignal): Awaitable<unknown> {
  return after(RequestInput.open(context), input => {
    signal?.throwIfAborted();
    return after(bindTo(input), dto => {
      context.refuseFailures();
      return input.plan.result(dto as Record<string, unknown>);
    });
  });
}

/**
 * THE FLOW of binding: the whole body where one property takes it, then source after source, each overwriting what an earlier
 * one has found, then a look at what is required and still missing. Failures are left in the context.
 */
function bindTo(input: RequestInput): Awaitable<unknown> {
  const { plan } = input;
  const filling = new Filling(plan.create());
  bindWhole(input, filling);
  for (const source of sourcesInOrder) {
    const slots = plan.slots.get(source.source);
    if (slots) source.read(input, slots, filling);
  }
  bindMissingInJson(input, filling);
  if (!plan.isComplete(filling.dto)) bindMissing(input, filling);
  return filling.result();
}

/** `fromBody` takes all of the JSON body, `plainText` all of the text. */
function bindWhole(input: RequestInput, filling: Filling): void {
  const { plan: { wholeBody, content }, body, req } = input;
  // `null` is a body without values, like no body at all, except for a type that takes it.
  if (wholeBody && body.kind === 'json' && (body.value !== null || wholeBody.codec.takesNull)) filling.put(wholeBody.property, wholeBody.codec.fromJson(body.value, input.placeOf('json', '')));
  // A list that nobody sent with a GET is an empty list.
  if (wholeBody?.codec.shape === 'list' && body.kind === 'none' && isSafe(req.method)) filling.put(wholeBody.property, []);
  if (content && body.kind === 'text') filling.put(content.property, body.text);
}

/** SPEC, "Required keyword caveat": what says `jsonRequired` must stand in the JSON itself, whatever other sources had. */
function bindMissingInJson(input: RequestInput, filling: Filling): void {
  const { body, plan } = input;
  if (plan.jsonRequired.length === 0 || input.isJsonRefused) return;
  const json = body.kind === 'json' && isJsonObject(body.value) ? body.value : {};
  for (const slot of plan.jsonRequired) {
    if (!Object.hasOwn(json, slot.name)) filling.put(slot.property, input.placeOf('json', slot.name).failMissingInJson());
  }
}

function bindMissing(input: RequestInput, filling: Filling): void {
  for (const requirement of input.plan.required) {
    if (!filling.has(requirement.property)) filling.put(requirement.property, readMissing(input, requirement));
  }
}

/** What a missing value comes to; a failure is reported where this client would have sent the value. */
function readMissing(input: RequestInput, requirement: Slot): unknown {
  const { plan, req } = input;
  const { source, name } = lookupOf(requirement.property, plan, req) ?? { source: 'body', name: requirement.property };
  // Of a body that is no object at all, what is missing in it goes without saying.
  if (source === 'json' && name !== '' && input.isJsonRefused) return undefined;
  return readNothing(requirement, input.placeOf(source, name), sourcesInOrder.find(one => one.source === source)?.missing);
}
