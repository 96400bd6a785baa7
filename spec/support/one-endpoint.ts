import type { Response as Answer } from 'supertest';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import {
  bindRequest,
  type AnyType,
  type BindingOptions,
  type Claims,
  type Infer,
  type ProblemBody,
  type ProblemError,
} from '../../lib';
import { ask, problemIn, type Sent } from './ask';

export interface EndpointOptions extends BindingOptions {
  readonly framework?: () => Express;
  /** Route template. Default `/`. */
  readonly route?: string | RegExp;
  /** What an authentication middleware would leave in `req.user`. */
  readonly user?: Claims;
  /** Mounted before `bindRequest`. */
  readonly before?: readonly RequestHandler[];
}

/** What became of one request. */
export interface Outcome<T> {
  readonly status: number;
  readonly response: Answer;
  /** What the handler saw, if it ran. */
  readonly dto: T | undefined;
  /** The refusal, if it was one. */
  readonly problem: ProblemBody | undefined;
  readonly errors: readonly ProblemError[];
}

export const urlEncoded = { allowFormData: { urlEncoded: true } } as const;

/** Sends one request to an application with one endpoint, `bindRequest(Dto, options)`. */
export async function bind<D extends AnyType>(
  Dto: D,
  sent: Sent = {},
  { framework = express, route = '/', user, before = [], ...options }: EndpointOptions = {},
): Promise<Outcome<Infer<D>>> {
  let dto: Infer<D> | undefined;
  const app = framework();
  app.use(
    (req: Request, _res: Response, next: NextFunction) => {
      if (user) Object.assign(req, { user });
      next();
    },
    ...before,
  );
  app.all(route, bindRequest(Dto, options), (req: Request, res: Response) => {
    dto = req.dto as Infer<D>;
    res.json(null);
  });
  // Express would print the error.
  app.use((error: Error, _req: Request, res: Response, next: NextFunction) => {
    if (res.headersSent) next(error);
    else res.status(500).end(error.message);
  });
  const response = await ask(app, sent);
  const problem = problemIn(response);
  return { status: response.status, response, dto, problem, errors: problem?.errors ?? [] };
}

/** What was bound, or its failures, each as `query n[1]: The value …`; of another refusal, its status. */
export async function outcome(Dto: AnyType, sent?: Sent, options?: EndpointOptions): Promise<unknown> {
  const { status, dto, problem, errors } = await bind<AnyType>(Dto, sent, { ...urlEncoded, ...options });
  if (problem?.errors) return errors.map(one => `${one.in} ${one.name}: ${one.detail}`);
  return status === 200 ? dto : status;
}

/** The sources and names of all failures, in the order of the alphabet. */
export async function failures(Dto: AnyType, sent?: Sent, options?: EndpointOptions): Promise<string[]> {
  const { errors } = await bind<AnyType>(Dto, sent, { ...urlEncoded, ...options });
  return errors.map(one => `${one.in} ${one.name}`).sort();
}
