import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone } from '../body/errors';
import { onExchangeEnd } from '../http/exchange-end';

/** Aborts when the client hangs up before it has its whole answer. */
export function clientSignal(req: IncomingMessage, res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  onExchangeEnd(req, res, () => {
    if (!res.writableFinished) controller.abort(new ClientGone());
  });
  return controller.signal;
}
