import { after, type Awaitable } from '../basics/awaitable';
import { AlreadyAnswered } from './answered';
import type { Binder } from './binder';
import type { BinderContext } from './input/binder-context';
import { isJsonObject } from './reading/json-text';
import type { Member } from './declaration/members';
import { isEmptyWithoutBody, lookupOf } from './plan/lookup';
import type { WholeBody } from './plan/whole-source';
import type { FoundValues } from './reading/found-values';
import { ownValue } from './reading/own-value';
import { takesNull } from './types/codec';
import { readNothing, readOptionalJson } from './types/read-json';
import { RequestInput } from './sources/request-input';
import { unreadNameBelow } from './sources/unread-names';
import { sourcesInOrder } from './sources/order';
import { warnIfUnknown } from './sources/route';

/** The built-in binder, made to be extended: `const dto = await super.bind(context, signal)`. */
export class RequestBinder<T = unknown> implements Binder<T> {
  /** @throws a problem that lists the failures of all sources, so code after the call runs only on success. */
  async bind(context: BinderContext<T>, signal: AbortSignal): Promise<T> {
    if (context.isAnswered()) throw new AlreadyAnswered();
    return (await bindDeclared(context, signal)) as T;
  }
}

/** Binds as the built-in binder does: synchronously, if nothing has to be awaited. */
export function bindDeclared(context: BinderContext, signal?: AbortSignal): Awaitable<unknown> {
  return after(RequestInput.open(context), input => {
    signal?.throwIfAborted();
    const { plan } = input;
    const dto = plan.create();
    const values = new Array<unknown>(plan.count);
    findValues(input, dto, context.foundOn(values));
    return after(context.settle(), () => {
      context.refuse(input.emptyBody);
      plan.set(dto, values);
      return plan.result(dto);
    });
  });
}

/**
 * Binds the whole body, if one property takes it; then source after source, each overwriting values of earlier ones;
 * then the required properties that are still missing. Failures are reported to the context.
 */
function findValues(input: RequestInput, dto: object, found: FoundValues): void {
  const { plan } = input;
  if (plan.wholeBody) bindWhole(plan.wholeBody, input, found);
  for (const source of sourcesInOrder) {
    const sourceProperties = plan.sourceProperties.get(source.name);
    if (sourceProperties) source.read(input, sourceProperties, found);
  }
  bindMissingInJson(input, found);
  for (const member of plan.required) {
    const { index, property, spec } = member;
    if (!found.has(index) && (spec.requiresValue || ownValue(dto, property) === undefined))
      found.put(index, readMissing(input, member));
  }
}

/** Binds the whole body to one property. */
function bindWhole({ kind, member }: WholeBody, input: RequestInput, found: FoundValues): void {
  const { body, req } = input;
  const { codec, index, required } = member;
  switch (kind) {
    case 'json':
      // A body `null` has no values, like no body at all, unless the type accepts null.
      if (body.kind === 'json' && (body.value !== null || takesNull(codec)))
        found.put(index, readOptionalJson(member, body.value, input.locationOf('json', '')));
      if (body.kind === 'none' && required && isEmptyWithoutBody(member, req.method)) found.put(index, []);
      return;
    case 'text':
      if (body.kind === 'text') found.put(index, body.text);
  }
}

/** Reports `jsonRequired` properties that the JSON body itself does not contain, even if another source has them. */
function bindMissingInJson(input: RequestInput, found: FoundValues): void {
  const { body, plan } = input;
  if (plan.jsonRequired.length === 0 || input.isJsonRefused) return;
  const json = body.kind === 'json' && isJsonObject(body.value) ? body.value : {};
  for (const sourceProperty of plan.jsonRequired) {
    if (!Object.hasOwn(json, sourceProperty.name))
      found.put(sourceProperty.index, input.locationOf('json', sourceProperty.name).failMissingInJson());
  }
}

/** Handles a missing value. A failure is reported where this client would have sent the value. */
function readMissing(input: RequestInput, member: Member): unknown {
  const { plan, req } = input;
  const { source, name } = lookupOf(member.property, plan, req) ?? { source: 'body', name: member.property };
  // A body that is not an object has been reported already; do not report each of its fields as missing, too.
  if (source === 'json' && name !== '' && input.isJsonRefused) return undefined;
  if (source === 'route') warnIfUnknown(name, req);
  const isWhole = member.spec.kind === 'fromBody';
  const missing = isWhole ? 'A JSON body is required.' : sourcesInOrder.find(one => one.name === source)?.missing;
  return readNothing(
    member,
    input.locationOf(source, name),
    isWhole || input.isFull ? missing : withUnread(missing, member, input),
  );
}

/**
 * Adds to the message a name that was sent below the property but is not read, because the client most likely meant it.
 */
function withUnread(missing = 'A value is required.', member: Member, input: RequestInput): string {
  const { plan, options } = input;
  const sourceProperties = plan.sourcesOf.get(member.property);
  const sourceProperty = sourceProperties?.get('query') ?? sourceProperties?.get('form');
  const unread = sourceProperty && unreadNameBelow(sourceProperty, input);
  if (unread === undefined) return missing;
  const sent = options.quoteValues ? `${JSON.stringify(unread.slice(0, 60))} was sent` : 'A name below it was sent';
  const advice = `send ${JSON.stringify(sourceProperty?.name)} as JSON`;
  return `${missing} ${sent}, but is read only where the endpoint declares fromQuery or fromForm; ${advice}.`;
}
