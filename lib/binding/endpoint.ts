import { Descriptions } from '../description/descriptions';
import { namingErrors } from './declaration/declaration-error';
import { isDto } from './declaration/declarations';
import type { Binder, Modifier } from './input/binder-context';
import type { Endpoint as BoundEndpoint, ResolvedOptions } from './input/endpoint';
import type { OperationOptions } from './operation-options';
import { bindingSnapshot, resolveOptions, type BindingOptions } from './options';
import { CodecTable } from './plan/codec-table';
import { refuseWithoutForm } from './plan/checks';
import { planFor } from './plan/plan';
import { RequestBinder } from './request-binder';
import { instanceCodecs, responseCodecs, type CodecOfInstance, type ResponseCodecs } from './responses/json-writer';
import { isSchema } from './types/assert-type';
import { classNameOf, type AnyType } from './types/property-type';

/** One `bindRequest()`, checked and prepared: how it binds requests, writes responses and is described. */
export interface Endpoint extends BoundEndpoint {
  readonly binder: Binder<unknown>;
  /** False for a binder of the application, which may extend that of bindonce. */
  readonly isBuiltIn: boolean;
  readonly modifier: Modifier | undefined;
  readonly responses: ResponseCodecs;
  /** Finds the codec of a dto in a response for which nothing is declared; undefined if Express writes it. */
  readonly ofInstance: CodecOfInstance | undefined;
  readonly operation: OperationOptions;
  /** The option as it was given; undefined if the default applies. */
  readonly allowAnonymous: boolean | undefined;
}

/** The endpoints of all middlewares, for the API description. */
export const endpoints = new Descriptions<Endpoint>('binding');

/**
 * Prepares an endpoint.
 * @param owner the function that the dto was given to, for messages.
 * @throws TypeError that names the option, or the class and the property that cannot be bound or written.
 */
export function endpointFor(Dto: AnyType, given: BindingOptions, owner = 'bindRequest'): Endpoint {
  const options = resolveOptions(given, Dto);
  checkSerializerContext(given.serializerContext, Dto, owner);
  const binder = binderFrom(given.binder ?? new RequestBinder(), Dto, owner);
  const codecs = new CodecTable(options.serializer, options.valueParsers);
  const plan = binder instanceof RequestBinder || isDeclared(Dto) ? planFor(Dto, codecs, options, owner) : undefined;
  if (plan?.body.json && binder instanceof RequestBinder) refuseConverter(Dto, options, owner);
  const isBuiltIn = binder.constructor === RequestBinder;
  if (plan && isBuiltIn && !options.allowMultipart)
    refuseWithoutForm(classNameOf(Dto) || 'dto', plan.sourceProperties.get('form') ?? [], plan.sourcesOf);
  return {
    Dto,
    options,
    plan,
    binder,
    isBuiltIn,
    modifier: given.modifier,
    responses: namingErrors(owner, () => responseCodecs(options.responses, codecs)),
    ofInstance: options.writesInstances ? instanceCodecs(codecs, plan?.members ?? []) : undefined,
    operation: bindingSnapshot(given).openapi ?? {},
    allowAnonymous: given.allowAnonymous,
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

/** @throws TypeError for a class with a converter, which would write the JSON of the class but not read it. */
function refuseConverter(Dto: AnyType, { serializer }: ResolvedOptions, owner: string): void {
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
