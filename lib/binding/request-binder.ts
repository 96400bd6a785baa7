import type { BinderContext } from './binder-context';
import { INVALID } from './place';
import type { Requirement } from './plan';
import type { Source } from './property';
import { sourcesInOrder } from './sources/order';
import { isJsonObject } from './types/object';

/**
 * THE FLOW of binding: a fresh dto, the whole body where one property takes it, then source after source, each overwriting
 * what an earlier one has set, and in the end a look at what is required and still missing. Failures are left in the context.
 */
export function bindTo(context: BinderContext): Readonly<Record<string, unknown>> {
  const { plan } = context;
  const dto = plan.create();
  const settled = new Set<string>();
  const set = (property: string, value: unknown): void => {
    if (value === undefined) return;
    settled.add(property);
    if (value !== INVALID) dto[property] = value;
  };
  bindWhole(context, set);
  for (const source of sourcesInOrder) {
    const slots = plan.slots.get(source.source);
    const read = slots && source.open(context);
    if (read) for (const slot of slots) set(slot.property, read(slot));
  }
  noteMissingInJson(context, settled);
  for (const requirement of plan.required) {
    if (!settled.has(requirement.property) && dto[requirement.property] === undefined) noteMissing(context, requirement);
  }
  return dto;
}

/** SPEC, "Required keyword caveat": what says `jsonRequired` must stand in the JSON itself, whatever other sources had. */
function noteMissingInJson(context: BinderContext, settled: Set<string>): void {
  const { body, plan } = context;
  if (isNoObject(context)) return;
  const json = body.kind === 'json' && isJsonObject(body.value) ? body.value : {};
  for (const { property, name, jsonRequired } of plan.slots.get('json') ?? []) {
    if (!jsonRequired || Object.hasOwn(json, name)) continue;
    settled.add(property);
    context.at('json', '', '').property(name).fail('The JSON body must have this value.');
  }
}

/** `fromBody` takes all of the JSON body, `plainText` all of the text. */
function bindWhole(context: BinderContext, set: (property: string, value: unknown) => void): void {
  const { plan: { wholeBody, content }, body, req } = context;
  // `null` is a body without values, like no body at all, except for a type that takes it.
  if (wholeBody && body.kind === 'json' && (body.value !== null || wholeBody.type.takesNull)) set(wholeBody.property, wholeBody.type.fromJson(body.value, context.at('json', '', '')));
  // A list that nobody sent with a GET is an empty list.
  if (wholeBody?.type.shape === 'list' && body.kind === 'none' && isSafe(req.method)) set(wholeBody.property, []);
  if (content && body.kind === 'text') set(content.property, body.text);
}

/** Reports a missing value under the name it would have been found under, in the source where this client would have sent it. */
function noteMissing(context: BinderContext, { property, slots }: Requirement): void {
  const { wholeBody, content } = context.plan;
  if (property === wholeBody?.property) context.at('json', '', '').failMissing();
  else if (property === content?.property) context.at('body', property).failMissing();
  else {
    const source = expectedIn(context, slots);
    const name = slots.get(source)?.name ?? property;
    const missing = sourcesInOrder.find(one => one.source === source)?.missing ?? '';
    if (source !== 'json') context.at(source, name).fail(missing);
    else if (!isNoObject(context)) context.at('json', '', '').property(name).fail(missing);
  }
}

/** Of a body that is no object at all, that has been said, and what is missing in it goes without saying. */
const isNoObject = ({ failures }: BinderContext): boolean => failures.some(({ pointer }) => pointer === '');

function expectedIn({ body, plan, req }: BinderContext, slots: Requirement['slots']): Source {
  const sendsForm = body.kind === 'form' || (body.kind === 'none' && !plan.body.json);
  const preferred: Source = isSafe(req.method) || plan.content ? 'query' : sendsForm ? 'form' : 'json';
  return slots.has(preferred) ? preferred : [...slots.keys()].at(-1) ?? preferred;
}

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';
