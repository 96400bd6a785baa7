import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { Descriptions } from '../description/descriptions';
import { ClientGone } from '../http/client-gone';
import { shareShapes } from '../http/common-shape';
import type { Next } from '../http/next';
import type { Answering } from '../problems/answer';
import { Problem } from '../problems/problem';
import { abandon, refuse } from '../problems/refuse';
import { whenDone, type Awaitable } from '../basics/awaitable';
import type { Binder } from './binder';
import { BinderContext } from './input/binder-context';
import type { BindHandler } from './express-types';
import { clientSignal } from './client-signal';
import type { Endpoint } from './input/endpoint';
import { discardStored } from './input/refusals';
import { instanceCodecs } from './responses/instance-codecs';
import { responseCodecs, writeResponsesAs, type ResponseCodecs } from './responses/json-writer';
import type { OperationOptions } from './operation-options';
import { resolveOptions, type BindingOptions } from './options';
import { refuseWithoutForm } from './plan/form-only';
import { planFor } from './plan/plan';
import { isDto } from './declaration/property';
import { bindDeclared, RequestBinder } from './request-binder';
import { CodecTable } from './plan/codec-table';
import { isSchema } from './types/assert-type';
import type { AnyType, Infer } from './types/property-type';

export function makeBindRequest<D extends AnyType>(
  Dto: D,
  options: BindingOptions,
  answering?: Answering,
): BindHandler<Infer<D>> {
  const { bind, writeResponses, description } = bindingOf(Dto, options);
  return endpoints.as(description, function bindRequest(req: IncomingMessage, res: Response, next: Next): void {
    shareShapes(req, res);
    whenDone(
      () => bind(req as Request, res),
      dto => {
        writeResponses(res);
        Object.assign(req, { dto });
        next();
      },
      error => {
        discardStored(req);
        if (error instanceof ClientGone) abandon(error, req, res);
        else refuse(error, req, res, next, answering);
      },
    );
  });
}

/** What an endpoint says about itself. */
export interface EndpointDescription {
  readonly endpoint: Endpoint;
  readonly responses: ResponseCodecs;
  readonly operation: OperationOptions;
  /** The option as it was given; undefined if the default applies. */
  readonly allowAnonymous: boolean | undefined;
}

/** The descriptions of all endpoints, for the API description. */
export const endpoints = new Descriptions<EndpointDescription>('binding');

/** How one endpoint binds requests and writes responses. */
interface Binding {
  readonly bind: (req: Request, res: Response) => Awaitable<unknown>;
  /** Makes `res.json()` write what the endpoint declares. */
  readonly writeResponses: (res: Response) => void;
  readonly description: EndpointDescription;
}

/** Prepares the binding of one endpoint: its binder makes the dto, then its modifier may change it. */
export function bindingOf(Dto: AnyType, options: BindingOptions): Binding {
  if (typeof (options as unknown) === 'function')
    throw new TypeError('bindRequest takes the dto first, and then the options: bindRequest(Dto, { … }).');
  const { options: resolved, binder: given = new RequestBinder(), modifier, operation } = resolveOptions(options);
  const { request = Dto } = options.serializerContext?.types ?? {};
  if (request !== Dto)
    throw new TypeError('bindRequest: the serializerContext was made for another request type than this Dto.');
  const binder = makeBinder(given, Dto);
  const codecs = new CodecTable(resolved.serializer, resolved.valueParsers);
  const endpoint: Endpoint = {
    Dto,
    options: resolved,
    plan: binder instanceof RequestBinder || isDeclared(Dto) ? planFor(Dto, codecs) : undefined,
  };
  const isOwnBinder = binder.constructor !== RequestBinder;
  const { plan } = endpoint;
  if (plan && !isOwnBinder && !resolved.allowMultipart)
    refuseWithoutForm((Dto as { name?: string }).name ?? 'dto', plan);
  const responses = responseCodecs(resolved.responses, codecs);
  const ofInstance = resolved.writesInstances ? instanceCodecs(codecs, Dto) : undefined;
  codecs.endPreparation();
  const bindOtherwise = async (context: BinderContext, signal: AbortSignal): Promise<unknown> => {
    const dto = await binder.bind(context, signal);
    context.refuseFailures();
    if (dto === undefined && !isSchema(Dto))
      throw new TypeError('bindRequest: the binder returned undefined; is a `return` missing?');
    await modifier?.(dto, Dto, context, signal);
    context.refuseFailures();
    return dto;
  };
  // The built-in binder needs no signal, and a listener on every response costs time.
  const isBuiltIn = !isOwnBinder && !modifier;

  return {
    description: { endpoint, responses, operation, allowAnonymous: options.allowAnonymous },
    bind(req, res) {
      if (!resolved.allowAnonymous && resolved.claims(req) === undefined) {
        // RFC 9110, section 15.5.2: a 401 response names a way to authenticate.
        throw new Problem('unauthenticated', 'This endpoint is not open to anonymous callers.', {
          headers: { 'WWW-Authenticate': 'Bearer' },
        });
      }
      const context = new BinderContext(req, res, endpoint);
      return isBuiltIn ? bindDeclared(context) : bindOtherwise(context, clientSignal(req, res));
    },
    writeResponses(res) {
      if (responses.size > 0 || ofInstance) writeResponsesAs(responses, res, ofInstance);
    },
  };
}

/** Returns the binder of an endpoint. @throws TypeError if the option is a function that does not return one. */
function makeBinder(given: Binder | ((Dto: AnyType) => Binder), Dto: AnyType): Binder {
  const binder: unknown = typeof given === 'object' ? given : given(Dto);
  if (typeof binder !== 'object' || binder === null || typeof (binder as Partial<Binder>).bind !== 'function')
    throw new TypeError(
      'bindRequest: the function in `binder` must return an object with a method bind(context, signal).',
    );
  return binder as Binder;
}

/** False for a class without declared properties: only the application's own binder can make its instances. */
const isDeclared = (Dto: AnyType): boolean => typeof Dto !== 'function' || isSchema(Dto) || isDto(Dto);
