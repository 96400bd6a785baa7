import type { IncomingMessage, ServerResponse } from 'node:http';
import { Descriptions } from '../description/descriptions';
import { ClientGone } from '../http/exchange-end';
import { type Next, requireExpressArguments, shareShapes } from '../http/express';
import { refuse, type Answering } from '../problems/answer';
import { decide, outcomeWithoutRun, type Decision } from './decide';
import { answer } from './answer';
import { identifyAttempt, outcomeIfUnanswerable, type Attempt, type Exchange } from './exchange/exchange';
import type { CallersOn } from './identity/caller';
import { letThrough, mark, requireRecordable } from './mounted';
import type { IdempotencyOptions } from './options/options';
import { resolveOptions, type ResolvedOptions } from './options/resolved-options';
import type { Outcome } from './outcome';
import { purge } from './purge';
import { Reporter } from './exchange/reporter';
import { runAndRecord } from './run/run';
import { TimedStores } from './store-calls/timed-stores';

/** The options of each middleware, for the API description. */
export const guards = new Descriptions<ResolvedOptions>('idempotency');

/** Express middleware; see {@link idempotency}. */
export interface IdempotencyMiddleware {
  (req: IncomingMessage, res: ServerResponse, next: Next): void;
  /**
   * Removes what is kept of a run, the response and its record: the next request with this `req.idempotency.cacheKey`
   * runs the handler. A request that is running is left alone.
   * @returns whether a run was recorded.
   * @throws TypeError for a key that is not text; an Error whose `code` is `'store-unavailable'` if the store fails, or
   * does not answer within `storeTimeout`.
   */
  purge(cacheKey: string): Promise<boolean>;
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
    if (letThrough(req, options)) {
      next();
      return;
    }
    shareShapes(req, res);
    const exchange = { req, res, next, options, stores, reporter: new Reporter(options.onEvent, req) };
    handle(exchange).catch((error: unknown) => {
      refuse(error, req, res, next, answering);
    });
  };
  return Object.assign(guards.as(options, middleware), {
    purge: (cacheKey: string) => purge(cacheKey, options, stores),
  });
}

/** Answers a request, and reports its outcome. */
async function handle(exchange: Exchange): Promise<void> {
  const { req, next, options, reporter } = exchange;
  let outcome: Outcome | undefined;
  try {
    if (mark(req, options)) outcome = outcomeIfUnanswerable(exchange) ?? (await serve(exchange));
  } catch (error) {
    outcome = refusal(error);
  }
  if (!outcome) {
    next();
    return;
  }
  reporter.report(outcome);
  answer(outcome, exchange);
}

/** THE FLOW: key and identity, the right to run, and then: run and record, replay, or refuse. */
async function serve(exchange: Exchange): Promise<Outcome> {
  let attempt: Attempt;
  let decision: Decision;
  try {
    requireRecordable(exchange.req);
    attempt = await identifyAttempt(exchange);
    decision = await decide(exchange, attempt);
  } catch (error) {
    // The file of a body is closed when its client disconnects, so reading it fails then.
    return error instanceof ClientGone ? { kind: 'abandoned' } : (outcomeIfUnanswerable(exchange) ?? refusal(error));
  }
  if (decision.kind !== 'acquired') return outcomeWithoutRun(exchange, attempt, decision);
  // The handler must not run for a client that is gone: body parsers see a disconnected request as one without a body.
  const unanswerable = outcomeIfUnanswerable(exchange);
  if (unanswerable) {
    await exchange.stores.releaseQuietly(attempt);
    return unanswerable;
  }
  return runAndRecord(exchange, attempt, decision.asked);
}

/** Makes the outcome of an error: a wrong order of middlewares, a lease store, or without Express the handler. */
const refusal = (error: unknown): Outcome => ({ kind: 'refused', error });
