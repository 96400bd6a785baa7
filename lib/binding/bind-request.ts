import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { after, whenDone, type Awaitable } from '../basics/awaitable';
import { Descriptions } from '../description/descriptions';
import { ClientGone, hasEnded, onExchangeEnd } from '../http/exchange-end';
import { type Next, requireExpressArguments, shareShapes } from '../http/express';
import { objectWith } from '../options/check';
import { abandon, refuse, type Answering } from '../problems/answer';
import { Problem } from '../problems/problem';
import { isDto, namingErrors } from './declaration/declarations';
import type { BindHandler } from './express-types';
import { BinderContext, type Binder, type Modifier } from './input/binder-context';
import { readBody } from './input/body';
import { discardStored } from './input/uploads';
import { resolveOptions, type BindingOptions } from './options';
import { CodecTable } from './declaration/codec-table';
import { lookupOf, planFor, type Plan } from './plan/plan';
import { instanceCodecs, responseCodecs, writeResponsesAs } from './responses/json';
import { Location } from './reading/failures';
import { ownValue } from './reading/json-text';
import { readFrom } from './sources';
import type { Member } from './types/codec';
import { isOptional, isSchema, type AnyType, type Infer } from './types/property-type';
import { readNothing, setOn } from './types/read';

/** One `bindRequest()`, checked and prepared: how it binds requests, writes responses and is described. */
export type Endpoint = ReturnType<typeof endpointFor>;

/** The endpoints of all middlewares, for the API description. */
export const endpoints = new Descriptions<Endpoint>('binding');

export function makeBindRequest<D extends AnyType>(
  Dto: D,
  options: BindingOptions,
  answering?: Answering,
): BindHandler<Infer<D>> {
  const endpoint = endpointFor(Dto, options);
  const { responses, ofInstance } = endpoint;
  return endpoints.as(endpoint, function bindRequest(req: IncomingMessage, res: Response, next: Next): void {
    requireExpressArguments('bindRequest', req, next);
    shareShapes(req, res);
    whenDone(
      () => dtoOf(endpoint, new BinderContext(req as Request, res, endpoint)),
      dto => {
        // Whoever has ended the response has answered: the handler must not do what that answer refuses.
        if (hasEnded(res)) void discardStored(req);
        else {
          if (responses.size > 0 || ofInstance) writeResponsesAs(responses, res, ofInstance);
          (req as Request).dto = dto;
          next();
        }
      },
      error => {
        // Before the answer: a client that has it finds nothing of its files.
        void after(discardStored(req), () => {
          if (error instanceof ClientGone) abandon(error, req, res);
          else refuse(error, req, res, next, answering);
        });
      },
    );
  });
}

/**
 * Makes the dto of a request: the endpoint's binder makes it, then its modifier may change it.
 * @throws a problem that lists the failures of all sources, or a 401 problem for an anonymous caller where none is
 * accepted.
 */
function dtoOf(endpoint: Endpoint, context: BinderContext): Awaitable<unknown> {
  const { allowAnonymous, claims } = context.endpoint.options;
  if (!allowAnonymous && claims(context.req) === undefined)
    // RFC 9110, section 15.5.2: a 401 response names a way to authenticate.
    throw new Problem('unauthenticated', 'This endpoint is not open to anonymous callers. Send credentials.', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  // The built-in binder needs no signal, and a listener on every response costs time.
  return endpoint.isBuiltIn && !endpoint.modifier ? bindDeclared(context) : customDto(endpoint, context);
}

async function customDto({ binder, modifier }: Endpoint, context: BinderContext): Promise<unknown> {
  const { Dto, req, res } = context;
  const signal = clientSignal(req, res);
  const dto: unknown = await binder.bind(context, signal);
  if (hasEnded(res)) return dto;
  context.refuseFailures();
  if (dto === undefined && !isSchema(Dto) && !isOptional(Dto))
    throw new TypeError('bindRequest: the binder returned undefined; is a `return` missing?');
  await modifier?.(dto, Dto, context, signal);
  if (!hasEnded(res)) context.refuseFailures();
  return dto;
}

/** Makes a signal that aborts when the client disconnects before it has received the whole response. */
export function clientSignal(req: IncomingMessage, res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  onExchangeEnd(req, res, () => {
    if (!res.writableFinished) controller.abort(new ClientGone());
  });
  return controller.signal;
}

/** The built-in binder, made to be extended: `const dto = await super.bind(context, signal)`. */
export class RequestBinder<T = unknown> implements Binder<T> {
  /** @throws a problem that lists the failures of all sources, so code after the call runs only on success. */
  async bind(context: BinderContext<T>, signal: AbortSignal): Promise<T> {
    return (await bindDeclared(context, signal)) as T;
  }
}

/** Binds as the built-in binder does: synchronously, if nothing has to be awaited. */
export function bindDeclared(context: BinderContext, signal?: AbortSignal): Awaitable<unknown> {
  const { plan, options } = context.endpoint;
  if (!plan)
    throw new TypeError('bindRequest: the built-in binder binds dto classes, list(Dto) and Standard Schemas only.');
  return after(context.body ?? readBody(context, plan.body, options), body => {
    signal?.throwIfAborted();
    context.body = body;
    const dto = readDto(context, plan);
    return after(context.noted.settle(), () => {
      context.refuseFailures();
      return plan.only === undefined ? dto : ownValue(dto, plan.only);
    });
  });
}

/**
 * Reads source after source, each overwriting values of earlier ones, and then reports the required properties that are
 * still missing. The dto is checked last, if everything in it is valid.
 */
function readDto(context: BinderContext, plan: Plan): object {
  const { noted } = context;
  const values = (context.values = new Array<unknown>(plan.members.length));
  for (const { 0: source, 1: properties } of plan.sourceProperties) readFrom[source](context, properties);
  const dto = plan.create();
  for (const { 0: index, 1: member } of plan.members.entries()) {
    const isMissing = values[index] === undefined && member.required;
    setOn(dto, member.property, isMissing ? readMissing(context, plan, member) : values[index], noted);
  }
  plan.complete?.(dto);
  const { check } = plan;
  if (check) noted.whenKnown(() => (noted.list.length > 0 ? undefined : check(dto, context.fail.bind(context))));
  return dto;
}

/** Handles a missing value. A failure is reported where this client would have sent the value. */
export function readMissing(context: BinderContext, plan: Plan, member: Member): unknown {
  const found = lookupOf(member.property, plan, context.req);
  const at = found ? context.at(found) : Location.of(context.noted, 'body', member.property);
  return readNothing(member, at, found?.missing);
}

/**
 * Prepares an endpoint.
 * @throws TypeError that names the option, or the class and the property that cannot be bound or written.
 */
function endpointFor(Dto: AnyType, given: BindingOptions) {
  const options = resolveOptions(given, Dto);
  const binder = binderFrom(given.binder ?? new RequestBinder(), Dto);
  const codecs = new CodecTable(options.serializer, options.valueParsers);
  // Only the application's own binder can make instances of a class without declared properties.
  const isDeclared = typeof Dto !== 'function' || isSchema(Dto) || isDto(Dto);
  // A binder of the application may extend that of bindonce, and may read a form itself.
  const isBuiltIn = binder.constructor === RequestBinder;
  const sources = isBuiltIn ? options : { ...options, allowMultipart: true };
  const plan = binder instanceof RequestBinder || isDeclared ? planFor(Dto, codecs, sources) : undefined;
  return {
    ...{ Dto, options, plan, binder, isBuiltIn },
    modifier: given.modifier as Modifier | undefined,
    responses: namingErrors('bindRequest', () => responseCodecs(options.responses, codecs)),
    // Writes a dto in a response for which nothing is declared. Else Express writes it.
    ofInstance: options.writesInstances ? instanceCodecs(codecs, plan?.members ?? []) : undefined,
    operation: options.openapi ?? {},
    // As it was given; undefined if the default applies.
    allowAnonymous: given.allowAnonymous,
  };
}

/** Returns the binder of an endpoint. @throws TypeError if the option is a function that does not return one. */
function binderFrom(given: Binder<unknown> | ((Dto: AnyType) => Binder), Dto: AnyType): Binder {
  const binder: unknown = typeof given === 'object' ? given : given(Dto);
  if (objectWith('', 'bind').accepts(binder)) return binder as Binder;
  throw new TypeError(
    'bindRequest: the function in `binder` must return an object with a method bind(context, signal).',
  );
}
