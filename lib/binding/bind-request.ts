import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { ClientGone } from '../http/client-gone';
import { requireExpressArguments } from '../http/express-arguments';
import { shareShapes } from '../http/share-shapes';
import type { Next } from '../http/next';
import type { Answering } from '../problems/answer';
import { abandon, refuse } from '../problems/refuse';
import { after, whenDone } from '../basics/awaitable';
import { BINDER_ANSWERED } from './answered';
import { bindingOf } from './endpoint-binding';
import { endpoints } from './endpoint-description';
import type { BindHandler } from './express-types';
import { discardStored } from './input/refusals';
import type { BindingOptions } from './options';
import type { AnyType, Infer } from './types/property-type';

export function makeBindRequest<D extends AnyType>(
  Dto: D,
  options: BindingOptions,
  answering?: Answering,
): BindHandler<Infer<D>> {
  const { bind, writeResponses, description } = bindingOf(Dto, options);
  return endpoints.as(description, function bindRequest(req: IncomingMessage, res: Response, next: Next): void {
    requireExpressArguments('bindRequest', req, next);
    shareShapes(req, res);
    whenDone(
      () => bind(req as Request, res),
      dto => {
        if (dto === BINDER_ANSWERED) {
          void discardStored(req);
          return;
        }
        writeResponses(res);
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
