import type { IncomingMessage, ServerResponse } from 'node:http';
import { isPromise } from '../basics/awaitable';
import { Descriptions } from '../description/descriptions';
import { ClientGone } from '../http/exchange-end';
import { type Next, requireExpressArguments, shareShapes } from '../http/express';
import { refuse, type Answering } from '../problems/answer';
import { decide } from './decide';
import { Exchange, refusal, type Outcome } from './run/exchange';
import { letThrough, mark } from './mounted';
import type { IdempotencyOptions } from './options/options';
import { keysIn, type Keys } from './operate/keys';
import { resolveOptions, type CallersOn, type ResolvedOptions } from './options/resolved-options';
import { GuardedRun } from './run/run';
import { TimedStores } from './store-calls/timed-stores';

/** The options of each middleware, for the API description. */
export const guards = new Descriptions<ResolvedOptions>('idempotency');

/** Express middleware; see {@link idempotency}. */
export interface IdempotencyMiddleware extends Pick<Keys, 'purge' | 'resolve'> {
  (req: IncomingMessage, res: ServerResponse, next: Next): void;
  /** The runs in the store, for operators. */
  readonly keys: Keys;
}

/**
 * Makes the middleware.
 * @param answering the way in which the application answers refused requests.
 * @param callers finds the callers of a request.
 */
export function makeIdempotency(
  given: IdempotencyOptions,
  answering?: Answering,
  callers?: CallersOn,
): IdempotencyMiddleware {
  const options = resolveOptions(given, callers);
  const stores = new TimedStores(options);

  const middleware = function idempotency(req: IncomingMessage, res: ServerResponse, next: Next): void {
    requireExpressArguments('idempotency', req, next);
    const exchange = new Exchange(req, res, next, options, stores);
    if (letThrough(exchange)) {
      next();
      return;
    }
    shareShapes(req, res);
    void handle(exchange, answering);
  };
  const keys = keysIn(options, stores);
  return Object.assign(guards.as(options, middleware), {
    purge: keys.purge.bind(keys),
    resolve: keys.resolve.bind(keys),
    keys,
  });
}

/** Reports the outcome of a request, and answers it. */
async function handle(exchange: Exchange, answering?: Answering): Promise<void> {
  const { req, res, next } = exchange;
  try {
    const outcome = await serve(exchange);
    if (outcome) exchange.report(outcome);
    if (outcome) outcome.answer?.();
    else next();
  } catch (error) {
    refuse(error, req, res, next, answering);
  }
}

/**
 * THE FLOW: key and identity, the right to run, and then: run and record, replay, or refuse.
 * @returns undefined for a request that is guarded already.
 */
async function serve(exchange: Exchange): Promise<Outcome | undefined> {
  try {
    if (!mark(exchange.req, exchange.options)) return undefined;
    const unanswerable = exchange.outcomeIfUnanswerable();
    if (unanswerable) return unanswerable;
    // What is known at once is not awaited: each promise takes CPU time of every request.
    const identified = exchange.identify();
    if (isPromise(identified)) await identified;
    const decided = decide(exchange);
    const decision = isPromise(decided) ? await decided : decided;
    const tooLate = exchange.outcomeIfUnanswerable();
    if (decision !== 'acquired') return tooLate ?? decision;
    if (!tooLate) return await new GuardedRun(exchange).outcome();
    // The handler must not run for a client that is gone: for body parsers, its request has no body.
    await exchange.stores.releaseQuietly(exchange.id);
    return tooLate;
  } catch (error) {
    // The file of a body is closed when its client disconnects, so reading it fails then.
    const hasLeft = error instanceof ClientGone;
    return hasLeft ? { kind: 'abandoned' } : (exchange.outcomeIfUnanswerable() ?? refusal(error));
  }
}
