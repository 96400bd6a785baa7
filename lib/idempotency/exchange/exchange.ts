import type { IncomingMessage, ServerResponse } from 'node:http';
import { isExchangeOver } from '../../http/exchange-end';
import type { Next } from '../../http/next';
import type { ResolvedOptions } from '../options/resolved-options';
import type { Reporter } from './reporter';
import type { TimedStores } from '../store-calls/timed-stores';

/** One request on its way through the middleware. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: Next;
  readonly options: ResolvedOptions;
  readonly stores: TimedStores;
  readonly reporter: Reporter;
}

/**
 * Returns true when there is no one left to answer: the client has disconnected, or an earlier middleware (a timeout)
 * has responded.
 */
export function isAnsweredOrGone({ req, res }: Exchange): boolean {
  return isExchangeOver(req, res) || res.headersSent;
}
