import type { IncomingMessage, ServerResponse } from 'node:http';
import { Descriptions } from '../description/descriptions';
import { ClientGone } from '../http/exchange-end';
import { type Next, requireExpressArguments, shareShapes } from '../http/express';
import { removeLeftFiles } from '../body/receive';
import { refuse, type Answering } from '../problems/answer';
import { Problem } from '../problems/problem';
import { decide } from './decide';
import { Exchange, refusal, type Outcome } from './exchange/exchange';
import type { CallersOn } from './identity/caller';
import { leaveUnguarded, letThrough, mark } from './mounted';
import type { IdempotencyOptions } from './options/options';
import { StoreKeys, type Keys } from './operate/keys';
import { resolveOptions, type ResolvedOptions } from './options/resolved-options';
import { replay } from './run/replay';
import { echoKey } from './run/request-idempotency';
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
  /**
   * Says of a run whose process has died without a record (`whenOwnerDies: 'refuse'`) whether it `'ran'`: then its
   * duplicates get 409 `response-unavailable` for `cacheDuration`; or `'did-not-run'`: then the next attempt runs.
   * @returns whether there was such a run.
   * @throws TypeError for a key that is not text, or another outcome; else as `purge` does.
   */
  resolve(cacheKey: string, outcome: 'ran' | 'did-not-run'): Promise<boolean>;
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
    handle(exchange).catch((error: unknown) => {
      refuse(error, req, res, next, answering);
    });
  };
  return Object.assign(guards.as(options, middleware), {
    purge: stores.purge.bind(stores),
    resolve: stores.resolve.bind(stores),
    keys: new StoreKeys(options, stores),
  });
}

/** Answers a request, and reports its outcome. */
async function handle(exchange: Exchange): Promise<void> {
  let outcome: Outcome | undefined;
  try {
    outcome = await serve(exchange);
  } catch (error) {
    // The file of a body is closed when its client disconnects, so reading it fails then.
    const hasLeft = error instanceof ClientGone;
    outcome = hasLeft ? { kind: 'abandoned' } : (exchange.outcomeIfUnanswerable() ?? refusal(error));
  }
  if (!outcome) {
    exchange.next();
    return;
  }
  exchange.report(outcome);
  answer(outcome, exchange);
}

/**
 * THE FLOW: key and identity, the right to run, and then: run and record, replay, or refuse.
 * @returns undefined for a request that is guarded already.
 */
async function serve(exchange: Exchange): Promise<Outcome | undefined> {
  if (!mark(exchange.req, exchange.options)) return undefined;
  const unanswerable = exchange.outcomeIfUnanswerable();
  if (unanswerable) return unanswerable;
  const attempt = await exchange.identify();
  const decision = await decide(exchange, attempt);
  const tooLate = exchange.outcomeIfUnanswerable();
  if (decision.kind !== 'acquired') return tooLate ?? decision;
  if (!tooLate) return runAndRecord(exchange, attempt);
  // The handler must not run for a client that is gone: body parsers see a disconnected request as one without a body.
  await exchange.stores.releaseQuietly(attempt);
  return tooLate;
}

/** Answers a request according to its outcome. @throws the problem, or the error, to refuse the request with. */
function answer(outcome: Outcome, exchange: Exchange): void {
  const { req, res, next, options } = exchange;
  if ('sendEnd' in outcome) {
    outcome.sendEnd();
    return;
  }
  // Of a request whose handler does not run because another one has run, or runs.
  if (DUPLICATE.has(outcome.kind)) void removeLeftFiles(req);
  switch (outcome.kind) {
    case 'abandoned':
      return;
    case 'refused':
      throw outcome.error;
    case 'replayed':
    case 'waited':
      return replay(outcome.response, req, res, options.replayedHeader);
    case 'conflicted':
      throw new Problem('request-in-flight', IN_FLIGHT, {
        headers: { 'Retry-After': String(wholeSeconds(outcome.msLeft)) },
      });
    case 'reused':
      throw new Problem('key-reused', REUSED);
    case 'unavailable':
      throw new Problem('response-unavailable', UNAVAILABLE);
    case 'outcome-unknown':
      throw new Problem('outcome-unknown', UNKNOWN);
    case 'store-failed': {
      if ('unguarded' in outcome) {
        echoKey(req, res, options);
        leaveUnguarded(exchange, outcome.unguarded);
        next();
        return;
      }
      const what = outcome.hasRun
        ? 'The request was executed before and is not executed again, but its response cannot be read now'
        : 'Nothing was executed for this attempt';
      throw new Problem(
        'store-unavailable',
        `${what}, because the idempotency store is unavailable. Retry later with the same key.`,
        { headers: { 'Retry-After': '1' }, cause: outcome.error },
      );
    }
  }
}

export const IN_FLIGHT =
  'The first request with this idempotency key has not been answered yet. Retry later with the same key.';
export const REUSED = 'This idempotency key was used for a request with other values. Use a new key for a new request.';
const UNAVAILABLE =
  'The request was executed before and is not executed again, but its response is not available. Do not retry; look ' +
  'up the result.';
const UNKNOWN =
  'The request may have been executed before: what executed it ended without saying what it did. It is not executed ' +
  'again until someone has found out. Do not retry, and do not use another key; look up the result.';

const DUPLICATE: ReadonlySet<Outcome['kind']> = new Set([
  ...(['replayed', 'waited', 'conflicted', 'reused', 'unavailable', 'outcome-unknown'] as const),
]);

/** Rounds up to whole seconds, at least 1. An application's own lease store may return something else than a number. */
const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000) || 1);
