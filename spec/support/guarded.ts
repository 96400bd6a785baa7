import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { idempotency, type IdempotencyMiddleware, type IdempotencyOptions } from '../../lib';
import { EventLog } from './event-log';
import { send, type WireRequest, type WireResponse } from './listen';
import { keyed } from './replays';
import { serve } from './serve';

/** What a guarded endpoint does, each time that it runs. */
export type Run = (req: Request, res: Response, next: NextFunction, run: number) => unknown;

/** A request with the key `k`, unless another is named, or its headers have one. */
export interface Keyed extends WireRequest {
  readonly key?: string;
  readonly path?: string;
}

/** What a guarded endpoint has around it. */
export interface Around {
  readonly version?: () => Express;
  readonly configure?: (app: Express) => unknown;
  /** Middlewares in front of the guard, and behind it. */
  readonly before?: readonly RequestHandler[];
  readonly behind?: readonly RequestHandler[];
}

/**
 * Serves one endpoint behind `idempotency()`, counts its runs, and keeps what `onEvent` is told. It answers with the number
 * of its run unless it does something else. At `/bare` is what it would be without a guard, as run 0.
 * @param given options of the guard, or the guard.
 */
export async function guarded(
  given: IdempotencyOptions | RequestHandler = {},
  act: Run = (_req, res, _next, run) => res.json({ run }),
  { version = express, configure = () => undefined, before = [], behind = [] }: Around = {},
) {
  const log = new EventLog();
  const guard = typeof given === 'function' ? given : idempotency({ onEvent: log.onEvent, ...given });
  let runs = 0;
  const app = version().set('env', 'test').disable('x-powered-by');
  configure(app);
  const acting =
    (count: () => number) =>
    (req: Request, res: Response, next: NextFunction): unknown =>
      act(req, res, next, count());
  app.use(
    '/bare',
    ...before,
    ...behind,
    acting(() => 0),
  );
  app.use(
    ...before,
    guard as RequestHandler,
    ...behind,
    acting(() => ++runs),
  );
  const listening = await serve(app);
  const post = ({ key = 'k', path = '', headers = {}, ...more }: Keyed = {}): Promise<WireResponse> =>
    send(listening.url + path, { ...more, headers: { ...keyed(key), ...headers } });
  return { ...listening, app, guard: guard as IdempotencyMiddleware, log, runs: () => runs, post };
}

/** Text and mark of an answer: `{"run":1}` is the first, `{"run":1} again` a replay; another status than 2xx stands before it. */
export function seen({ status, text, headers }: WireResponse): string {
  const mark = headers['idempotent-replayed'] === 'true' ? ' again' : '';
  return `${status < 300 ? '' : `${status} `}${text}${mark}`;
}
