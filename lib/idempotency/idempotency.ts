import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone } from '../body/errors';
import { isExchangeOver } from '../http/exchange-end';
import type { Next } from '../http/next';
import type { Answering } from '../problems/answer';
import { refuse } from '../problems/refuse';
import { giveUp, takeTurn, type Turn } from './acquire';
import { answerStored, inFlight, unreadable, withoutStore } from './answers';
import { openExchange, type Exchange } from './exchange';
import type { CallersOn } from './identity/scope';
import { mark } from './mounted';
import { settle, type IdempotencyOptions, type Settings } from './options';
import { purge } from './purge';
import { runAndRecord } from './run';
import { isExempt, leaveUnguarded } from './unguarded';

/** Express middleware; see {@link idempotency}. */
export interface IdempotencyMiddleware {
  (req: IncomingMessage, res: ServerResponse, next: Next): void;
  /** Removes the stored response of `req.idempotency.cacheKey`: the next request runs the handler. @returns whether there was one. */
  purge(cacheKey: string): Promise<boolean>;
}

export function makeIdempotency(
  options: IdempotencyOptions,
  answering?: Answering,
  callers?: CallersOn,
): IdempotencyMiddleware {
  const settings = settle(options, callers);
  const middleware = function idempotency(req: IncomingMessage, res: ServerResponse, next: Next): void {
    const guard = async (): Promise<void> => (mark(req, settings) ? serve(req, res, next, settings) : next());
    if (isExempt(req, settings)) {
      leaveUnguarded(req);
      next();
    } else
      guard().catch((error: unknown) => {
        if (!(error instanceof ClientGone)) refuse(error, req, res, next, answering);
      });
  };
  return Object.assign(middleware, { purge: (cacheKey: string) => purge(cacheKey, settings) });
}

/** THE FLOW: key, identity, the right to run; and by what that came to: run and record, replay, or refuse. */
async function serve(req: IncomingMessage, res: ServerResponse, next: Next, settings: Settings): Promise<void> {
  const exchange = await openExchange(req, res, next, settings);
  const turn = await takeTurn(exchange);
  if (await isOver(exchange, turn)) return;
  switch (turn.kind) {
    case 'acquired':
      return (await runAndRecord(exchange, turn.asked)) ? undefined : answerLikeWinner(exchange);
    case 'done':
      return answerStored(exchange, turn);
    case 'running':
      throw inFlight(exchange, turn.msLeft);
    case 'store-failed':
      withoutStore(exchange, turn.error);
      return;
  }
}

/**
 * Nobody is to be answered any more: the client is gone, or a middleware before us (a time-out) has answered while we waited.
 * Nothing has happened yet, and body parsers take a request without a client for one without a body. The retry is a first
 * request.
 */
async function isOver({ req, res, claim, settings, tell }: Exchange, turn: Turn): Promise<boolean> {
  if (!isExchangeOver(req, res) && !res.headersSent) return false;
  if (turn.kind !== 'store-failed') tell('abandoned');
  if (turn.kind === 'acquired') await giveUp(claim, settings).catch(leaveToRunOut);
  return true;
}

/** The lease was lost and another request's response counts: this one gets it too. The handler has run; it never runs again here. */
async function answerLikeWinner(exchange: Exchange): Promise<void> {
  const turn = await takeTurn(exchange);
  if (turn.kind === 'done') return answerStored(exchange, turn);
  if (turn.kind === 'store-failed') throw unreadable(turn.error);
  if (turn.kind === 'acquired') await giveUp(exchange.claim, exchange.settings).catch(leaveToRunOut);
  throw inFlight(exchange, turn.kind === 'running' ? turn.msLeft : 0);
}

/** A lease that cannot be given up, because the store is out of reach, runs out by itself. */
const leaveToRunOut = (): void => undefined;
