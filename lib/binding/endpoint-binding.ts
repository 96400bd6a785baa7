import type { Request, Response } from 'express';
import { Problem } from '../problems/problem';
import type { Awaitable } from '../basics/awaitable';
import { BINDER_ANSWERED, unlessAnswered } from './answered';
import type { Binder } from './binder';
import { BinderContext } from './input/binder-context';
import { clientSignal } from './client-signal';
import type { Endpoint } from './input/endpoint';
import { instanceCodecs, type CodecOfInstance } from './responses/instance-codecs';
import { responseCodecs, writeResponsesAs, type ResponseCodecs } from './responses/json-writer';
import type { EndpointDescription } from './endpoint-description';
import { resolveOptions, type EndpointOptions } from './endpoint-options';
import type { BindingOptions, Modifier } from './options';
import { refuseWithoutForm } from './plan/form-only';
import { planFor } from './plan/plan';
import { namingErrors } from './declaration/declaration-error';
import { isDto } from './declaration/declarations';
import { bindDeclared, RequestBinder } from './request-binder';
import { CodecTable } from './plan/codec-table';
import { isSchema } from './types/assert-type';
import { classNameOf } from './types/class-name';
import { isOptional, type AnyType } from './types/property-type';

/** How one endpoint binds requests and writes responses. */
interface Binding {
  readonly bind: (req: Request, res: Response) => Awaitable<unknown>;
  /** Makes `res.json()` write what the endpoint declares. */
  readonly writeResponses: (res: Response) => void;
  readonly description: EndpointDescription;
}

/**
 * Prepares the binding of one endpoint: its binder makes the dto, then its modifier may change it.
 * @param owner the function that the dto was given to, for messages.
 */
export function bindingOf(Dto: AnyType, given: BindingOptions, owner = 'bindRequest'): Binding {
  if (typeof (given as unknown) === 'function')
    throw new TypeError('bindRequest takes the dto first, and then the options: bindRequest(Dto, { … }).');
  const options = resolveOptions(given, Dto);
  checkSerializerContext(given.serializerContext, Dto, owner);
  const binder = binderFrom(options.binder ?? new RequestBinder(), Dto, owner);
  const { endpoint, responses, ofInstance } = prepareEndpoint(Dto, options, binder, owner);
  const makeDto = dtoMaker(Dto, binder, options.modifier);
  return {
    description: { endpoint, responses, operation: options.operation, allowAnonymous: given.allowAnonymous },
    bind(req, res) {
      checkCaller(req, options);
      return makeDto(new BinderContext(req, res, endpoint));
    },
    writeResponses(res) {
      if (responses.size > 0 || ofInstance) writeResponsesAs(responses, res, ofInstance);
    },
  };
}

/** Checks the type of the JSON that a serializer context reads. @throws TypeError for another one than the dto. */
function checkSerializerContext(context: BindingOptions['serializerContext'], Dto: AnyType, owner: string): void {
  const request = context?.types.request;
  if (request === undefined || request === Dto) return;
  const [read, bound] = [classNameOf(request), classNameOf(Dto)];
  const remedy = bound
    ? `Make the context with { request: ${bound} }`
    : 'Pass the same object in both places, as each call of a function such as list() makes another type';
  throw new TypeError(
    `${owner}: the serializerContext reads ${read || 'a type without a name'}, but this endpoint binds ` +
      `${bound || 'another type'}. ${remedy}, or leave \`request\` out.`,
  );
}

/** Returns the binder of an endpoint. @throws TypeError if the option is a function that does not return one. */
function binderFrom(given: Binder<unknown> | ((Dto: AnyType) => Binder), Dto: AnyType, owner: string): Binder {
  const binder: unknown = typeof given === 'object' ? given : given(Dto);
  if (typeof binder !== 'object' || binder === null || typeof (binder as Partial<Binder<unknown>>).bind !== 'function')
    throw new TypeError(
      `${owner}: the function in \`binder\` must return an object with a method bind(context, signal).`,
    );
  return binder as Binder<unknown>;
}

/** Returns true for the binder of bindonce, and false for one of the application, which may extend it. */
const isBuiltIn = (binder: Binder<unknown>): boolean => binder.constructor === RequestBinder;

/** The parts of a binding that are worked out once, for all requests. */
interface Prepared {
  readonly endpoint: Endpoint;
  readonly responses: ResponseCodecs;
  /** Finds the codec of a dto in a response for which nothing is declared; undefined if Express writes it. */
  readonly ofInstance: CodecOfInstance | undefined;
}

/**
 * Prepares an endpoint.
 * @throws TypeError that names the class and the property that cannot be bound or written.
 */
function prepareEndpoint(Dto: AnyType, options: EndpointOptions, binder: Binder<unknown>, owner: string): Prepared {
  const codecs = new CodecTable(options.serializer, options.valueParsers);
  const plan = binder instanceof RequestBinder || isDeclared(Dto) ? planFor(Dto, codecs, options, owner) : undefined;
  if (plan?.body.json && binder instanceof RequestBinder) refuseConverter(Dto, options, owner);
  if (plan && isBuiltIn(binder) && !options.allowMultipart) refuseWithoutForm(classNameOf(Dto) || 'dto', plan);
  return {
    endpoint: { Dto, options, plan },
    responses: namingErrors(owner, () => responseCodecs(options.responses, codecs)),
    ofInstance: options.writesInstances ? instanceCodecs(codecs, Dto) : undefined,
  };
}

/** @throws TypeError for a class with a converter, which would write the JSON of the class but not read it. */
function refuseConverter(Dto: AnyType, { serializer }: EndpointOptions, owner: string): void {
  if (isSchema(Dto) || !isDto(Dto) || !serializer.converters.some(({ type }) => type === Dto)) return;
  const name = classNameOf(Dto) || 'Dto';
  throw new TypeError(
    `${owner}: ${name}: its converter reads one JSON value, but the properties of a request are read one by one. ` +
      `Bind it as the whole body, dto({ body: fromBody(${name}) }), or bind a class without a converter: ` +
      `class Sent extends ${name} {}.`,
  );
}

/** Returns false for a class without declared properties: only the application's own binder can make its instances. */
const isDeclared = (Dto: AnyType): boolean => typeof Dto !== 'function' || isSchema(Dto) || isDto(Dto);

/** Returns the function that makes the dto of a request. */
function dtoMaker(
  Dto: AnyType,
  binder: Binder<unknown>,
  modifier: Modifier | undefined,
): (context: BinderContext) => Awaitable<unknown> {
  // The built-in binder needs no signal, and a listener on every response costs time.
  if (isBuiltIn(binder) && !modifier) return context => bindDeclared(context);
  return context =>
    unlessAnswered(context, async () => {
      const signal = clientSignal(context.req, context.res);
      const dto = await binder.bind(context, signal);
      if (context.isAnswered()) return BINDER_ANSWERED;
      context.refuseFailures();
      if (dto === undefined && !isSchema(Dto) && !isOptional(Dto))
        throw new TypeError('bindRequest: the binder returned undefined; is a `return` missing?');
      await modifier?.(dto, Dto, context, signal);
      if (context.isAnswered()) return BINDER_ANSWERED;
      context.refuseFailures();
      return dto;
    });
}

/** Refuses an anonymous caller where none is accepted. @throws a 401 problem */
function checkCaller(req: Request, { allowAnonymous, claims }: EndpointOptions): void {
  if (allowAnonymous || claims(req) !== undefined) return;
  // RFC 9110, section 15.5.2: a 401 response names a way to authenticate.
  throw new Problem('unauthenticated', 'This endpoint is not open to anonymous callers. Send credentials.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}
