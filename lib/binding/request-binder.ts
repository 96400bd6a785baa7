import type { Binder } from './binder';
import type { BinderContext } from './binder-context';
import { isJsonObject } from './json/json-text';
import { isSafe, lookupOf } from './plan/lookup';
import { after, type Awaitable } from './reading/awaitable';
import { INVALID } from './reading/place';
import { valueIn } from './declaration/property';
import { readNothing } from './reading/reading';
import { RequestInput } from './input/request-input';
import type { Slot } from './plan/slots';
import { sourcesInOrder } from './sources/order';

/** The built-in binder, made to be extended: `const dto = await super.bind(context, signal)`. */
export class RequestBinder<T = unknown> implements Binder<T> {
  /** @throws a problem that lists every failure of every source: what follows a call runs on success only. */
  async bind(context: BinderContext<T>, signal: AbortSignal): Promise<T> {
    const input = await RequestInput.open(context);
    signal.throwIfAborted();
    const dto = await bindTo(input);
    context.refuseFailures();
    return input.plan.result(dto) as T;
  }
}

/**
 * THE FLOW of binding: the whole body where one property takes it, then source after source, each overwriting what an earlier
 * one has found, then a look at what is required and still missing. Failures are left in the context.
 */
function bindTo(input: RequestInput): Awaitable<Readonly<Record<string, unknown>>> {
  const { plan } = input;
  const dto = plan.create();
  const found: unknown[] = [];
  const promised: Promise<unknown>[] = [];
  const set: Set = ({ index }, value) => {
    if (value instanceof Promise) promised.push(value);
    if (value !== undefined) found[index] = value;
  };
  bindWhole(input, set);
  for (const source of sourcesInOrder) {
    const slots = plan.slots.get(source.source);
    const read = slots && source.open(input, slots);
    if (read) for (const slot of slots) set(slot, read(slot));
  }
  bindMissingInJson(input, set);
  for (const requirement of plan.required) {
    const { index, property } = requirement;
    if (found[index] === undefined && valueIn(dto, property) === undefined) set(requirement, readMissing(input, requirement));
  }
  const fill = (values: readonly unknown[]): Readonly<Record<string, unknown>> => {
    for (const [index, property] of plan.properties.entries()) {
      const value = values[index];
      if (value !== undefined && value !== INVALID) dto[property] = value;
    }
    return dto;
  };
  // All of them are waited for, the overwritten too: their failures belong into the answer.
  return promised.length === 0 ? fill(found) : after(Promise.all(promised), () => after(Promise.all(found), fill));
}

type Set = (slot: Slot, value: unknown) => void;

/** `fromBody` takes all of the JSON body, `plainText` all of the text. */
function bindWhole(input: RequestInput, set: Set): void {
  const { plan: { wholeBody, content }, body, req } = input;
  // `null` is a body without values, like no body at all, except for a type that takes it.
  if (wholeBody && body.kind === 'json' && (body.value !== null || wholeBody.codec.takesNull)) set(wholeBody, wholeBody.codec.fromJson(body.value, input.placeOf('json', '')));
  // A list that nobody sent with a GET is an empty list.
  if (wholeBody?.codec.shape === 'list' && body.kind === 'none' && isSafe(req.method)) set(wholeBody, []);
  if (content && body.kind === 'text') set(content, body.text);
}

/** SPEC, "Required keyword caveat": what says `jsonRequired` must stand in the JSON itself, whatever other sources had. */
function bindMissingInJson(input: RequestInput, set: Set): void {
  const { body, plan } = input;
  if (plan.jsonRequired.length === 0 || input.isJsonRefused) return;
  const json = body.kind === 'json' && isJsonObject(body.value) ? body.value : {};
  for (const slot of plan.jsonRequired) {
    if (Object.hasOwn(json, slot.name)) continue;
    set(slot, input.placeOf('json', slot.name).failMissingInJson());
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
