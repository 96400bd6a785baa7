import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { ClientGone } from '../body/errors';
import type { Next } from '../http/next';
import type { Answering } from '../problems/answer';
import { Problem } from '../problems/problem';
import { abandon, refuse } from '../problems/refuse';
import type { Binder } from './binder';
import { BinderContext } from './binder-context';
import type { BindHandler } from './bound';
import { clientSignal } from './client-signal';
import type { Endpoint } from './endpoint';
import { discardStored, keepStored } from './input/refusals';
import { instanceCodecs } from './json/instance-codecs';
import { responseCodecs, writeResponsesAs } from './json/json-writer';
import { settle, type BindingOptions } from './options';
import { refuseWithoutForm } from './plan/form-only';
import { planFor } from './plan/plan';
import { isDto } from './declaration/property';
import { whenDone, type Awaitable } from './reading/awaitable';
import { bindDeclared, RequestBinder } from './request-binder';
import { CodecTable } from './types/codec-table';
import { isSchema } from './types/own-codec';
import type { AnyType, Infer } from './types/property-type';

export function makeBindRequest<D extends AnyType>(
  Dto: D,
  options: BindingOptions,
  answering?: Answering,
): BindHandler<Infer<D>> {
  const { bind, writeResponses } = bindingOf(Dto, options);
  return function bindRequest(req: IncomingMessage, res: Response, next: Next): void {
    whenDone(
      () => bind(req as Request, res),
      dto => {
        keepStored(req);
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
  };
}

/** How one endpoint binds requests and writes responses. */
interface Binding {
  readonly bind: (req: Request, res: Response) => Awaitable<unknown>;
  /** Has `res.json()` write what the endpoint declares. */
  readonly writeResponses: (res: Response) => void;
}

/** The binder of the endpoint makes the dto, then the modifier has the last word. */
export function bindingOf(Dto: AnyType, options: BindingOptions): Binding {
  const { settings, binder: given = new RequestBinder(), modifier } = settle(options);
  const { request = Dto } = options.serializerContext?.types ?? {};
  if (request !== Dto) throw new TypeError('bindRequest: the serializerContext was made for another request type.');
  const binder = makeBinder(given, Dto);
  const codecs = new CodecTable(settings.serializer, settings.valueParsers);
  const endpoint: Endpoint = {
    Dto,
    settings,
    plan: binder instanceof RequestBinder || isDeclared(Dto) ? planFor(Dto, codecs) : undefined,
  };
  const isOwnBinder = binder.constructor !== RequestBinder;
  const { plan } = endpoint;
  if (plan && !isOwnBinder && !settings.allowMultipart)
    refuseWithoutForm((Dto as { name?: string }).name ?? 'dto', plan);
  const responses = responseCodecs(settings.responses, codecs);
  const ofInstance = settings.writesInstances ? instanceCodecs(codecs, Dto) : undefined;
  const bindOtherwise = async (context: BinderContext, signal: AbortSignal): Promise<unknown> => {
    const dto = await binder.bind(context, signal);
    context.refuseFailures();
    if (dto === undefined && !isSchema(Dto))
      throw new TypeError('bindRequest: the binder has returned nothing; a `return` may be missing.');
    await modifier?.(dto, Dto, context, signal);
    context.refuseFailures();
    return dto;
  };
  // The built-in binder asks for no signal; a listener on every response has its price.
  const isBuiltIn = !isOwnBinder && !modifier;

  return {
    bind(req, res) {
      if (!settings.allowAnonymous && settings.claims(req) === undefined) {
        // RFC 9110, section 15.5.2: a 401 answer names how to authenticate.
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

/** @throws TypeError when what should make a binder does not. */
function makeBinder(given: Binder | ((Dto: AnyType) => Binder), Dto: AnyType): Binder {
  const binder: unknown = typeof given === 'object' ? given : given(Dto);
  if (typeof binder !== 'object' || binder === null || typeof (binder as Partial<Binder>).bind !== 'function')
    throw new TypeError('bindRequest: what binder(Dto) returns must be an object with a method bind(context, signal).');
  return binder as Binder;
}

/** False for a class that says nothing about its properties: only the application's own binder can make one. */
const isDeclared = (Dto: AnyType): boolean => typeof Dto !== 'function' || isSchema(Dto) || isDto(Dto);
