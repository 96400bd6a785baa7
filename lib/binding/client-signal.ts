import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone } from '../http/client-gone';
import { onExchangeEnd } from '../http/exchange-end';

/** Makes a signal that aborts when the client disconnects before it has received the whole response. */
export function clientSignal(req: IncomingMessage, res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  onExchangeEnd(req, res, () => {
    if (!res.writableFinished) controller.abort(new ClientGone());
  });
  return controller.signal;
}
