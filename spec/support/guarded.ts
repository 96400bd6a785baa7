import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { idempotency, type IdempotencyOptions } from '../../lib';
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

/**
 * Serves one endpoint behind `idempotency()`, counts its runs, and keeps what `onEvent` is told. It answers with the number
 * of its run unless it does something else. At `/bare` is what it would be without a guard, as run 0.
 * @param around.before middlewares in front of the guard. @param around.behind those behind it.
 */
export async function guarded(
  options: IdempotencyOptions = {},
  act: Run = (_req, res, _next, run) => res.json({ run }),
  {
    version = express,
    before = [],
    behind = [],
  }: {
    readonly version?: typeof express;
    readonly before?: readonly RequestHandler[];
    readonly behind?: readonly RequestHandler[];
  } = {},
) {
  const log = new EventLog();
  const guard = idempotency({ onEvent: log.onEvent, ...options });
  let runs = 0;
  const app = version().set('env', 'test').disable('x-powered-by');
  app.use('/bare', ...before, ...behind, (req: Request, res: Response, next: NextFunction) => act(req, res, next, 0));
  app.use(...before, guard, ...behind, (req: Request, res: Response, next: NextFunction) =>
    act(req, res, next, ++runs),
  );
  const listening = await serve(app);
  const post = ({ key = 'k', path = '', headers = {}, ...more }: Keyed = {}): Promise<WireResponse> =>
    send(listening.url + path, { ...more, headers: { ...keyed(key), ...headers } });
  return { ...listening, app, guard, log, runs: () => runs, post };
}

/** Text and mark of an answer: `{"run":1}` is the first, `{"run":1} again` a replay; another status than 2xx stands before it. */
export function seen({ status, text, headers }: WireResponse): string {
  const mark = headers['idempotent-replayed'] === 'true' ? ' again' : '';
  return `${status < 300 ? '' : `${status} `}${text}${mark}`;
}
