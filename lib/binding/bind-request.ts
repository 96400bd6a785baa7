import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { after, whenDone, type Awaitable } from '../basics/awaitable';
import { ClientGone, hasEnded, onExchangeEnd } from '../http/exchange-end';
import { type Next, requireExpressArguments, shareShapes } from '../http/express';
import { abandon, refuse, type Answering } from '../problems/answer';
import { Problem } from '../problems/problem';
import { endpointFor, endpoints, type Endpoint } from './endpoint';
import type { BindHandler } from './express-types';
import { BinderContext } from './input/binder-context';
import { discardStored } from './input/uploads';
import type { BindingOptions } from './options';
import { bindDeclared } from './request-binder';
import { writeResponsesAs } from './responses/json-writer';
import { isSchema } from './types/assert-type';
import { isOptional, type AnyType, type Infer } from './types/property-type';

export function makeBindRequest<D extends AnyType>(
  Dto: D,
  options: BindingOptions,
  answering?: Answering,
): BindHandler<Infer<D>> {
  if (typeof (options as unknown) === 'function')
    throw new TypeError('bindRequest takes the dto first, and then the options: bindRequest(Dto, { … }).');
  const endpoint = endpointFor(Dto, options);
  const { responses, ofInstance } = endpoint;
  return endpoints.as(endpoint, function bindRequest(req: IncomingMessage, res: Response, next: Next): void {
    requireExpressArguments('bindRequest', req, next);
    shareShapes(req, res);
    whenDone(
      () => dtoOf(endpoint, new BinderContext(req as Request, res, endpoint)),
      dto => {
        // Whoever has ended the response has answered: the handler must not do what that answer refuses.
        if (hasEnded(res)) {
          void discardStored(req);
          return;
        }
        if (responses.size > 0 || ofInstance) writeResponsesAs(responses, res, ofInstance);
        Object.assign(req, { dto });
        next();
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
 * @param signal the signal of both. Default: one that aborts when the client disconnects.
 * @throws a problem that lists the failures of all sources, or a 401 problem for an anonymous caller where none is
 * accepted.
 */
export function dtoOf(endpoint: Endpoint, context: BinderContext, signal?: AbortSignal): Awaitable<unknown> {
  const {
    isBuiltIn,
    modifier,
    options: { allowAnonymous, claims },
  } = endpoint;
  if (!allowAnonymous && claims(context.req) === undefined) throw anonymous();
  // The built-in binder needs no signal, and a listener on every response costs time.
  if (isBuiltIn && !modifier) return bindDeclared(context);
  return customDto(endpoint, context, signal ?? clientSignal(context.req, context.res));
}

async function customDto(
  { Dto, binder, modifier }: Endpoint,
  context: BinderContext,
  signal: AbortSignal,
): Promise<unknown> {
  const dto = await binder.bind(context, signal);
  if (hasEnded(context.res)) return dto;
  context.refuseFailures();
  if (dto === undefined && !isSchema(Dto) && !isOptional(Dto))
    throw new TypeError('bindRequest: the binder returned undefined; is a `return` missing?');
  await modifier?.(dto, Dto, context, signal);
  if (!hasEnded(context.res)) context.refuseFailures();
  return dto;
}

/** RFC 9110, section 15.5.2: a 401 response names a way to authenticate. */
const anonymous = (): Problem =>
  new Problem('unauthenticated', 'This endpoint is not open to anonymous callers. Send credentials.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });

/** Makes a signal that aborts when the client disconnects before it has received the whole response. */
export function clientSignal(req: IncomingMessage, res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  onExchangeEnd(req, res, () => {
    if (!res.writableFinished) controller.abort(new ClientGone());
  });
  return controller.signal;
}
