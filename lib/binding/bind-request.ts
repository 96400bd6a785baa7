import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { ClientGone } from '../body/errors';
import { refuse, type Next, type OnProblem } from '../problems/answer';
import { Problem } from '../problems/problem';
import { BinderContext } from './binder-context';
import { readBody } from './body';
import type { BindHandler } from './bound';
import { settle, type BindingOptions, type Settings } from './options';
import { planFor, type Plan } from './plan';
import { bindTo } from './request-binder';
import type { AnyType, Infer } from './types/property-type';

export function makeBindRequest<D extends AnyType>(Dto: D, options: BindingOptions, onProblem?: OnProblem): BindHandler<Infer<D>> {
  const settings = settle(options);
  const plan = planFor(Dto);
  return function bindRequest(req: IncomingMessage, res: Response, next: Next): void {
    bind(req as Request, res, plan, settings).then(
      dto => {
        Object.assign(req, { dto });
        next();
      },
      (error: unknown) => { if (!(error instanceof ClientGone)) refuse(error, req, res, next, onProblem); },
    );
  };
}

/** @throws a problem that lists every failure of every source. */
async function bind(req: Request, res: Response, plan: Plan, settings: Settings): Promise<unknown> {
  if (!settings.allowAnonymous && settings.claims(req) === undefined) {
    // RFC 9110, section 15.5.2: a 401 answer names how to authenticate.
    throw new Problem('unauthenticated', 'This endpoint is not open to anonymous callers.', { headers: { 'WWW-Authenticate': 'Bearer' } });
  }
  const context = new BinderContext(req, res, plan, settings, await readBody(req, res, plan.body, settings));
  const dto = bindTo(context);
  const { failures } = context;
  if (failures.length > 0) {
    throw new Problem('validation-failed', failures.length === 1 ? 'One value is not valid.' : `${failures.length} values are not valid.`, { errors: failures });
  }
  return plan.result(dto);
}
