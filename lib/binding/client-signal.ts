import type { ServerResponse } from 'node:http';
import { ClientGone } from '../body/errors';

/** Aborts when the client hangs up before it has its whole answer. */
export function clientSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => { if (!res.writableFinished) controller.abort(new ClientGone()); };
  if (res.destroyed) abort();
  else res.once('close', abort);
  return controller.signal;
}
