import type { Awaitable } from '../../basics/awaitable';
import type { Attempt } from '../exchange/attempt';
import { echoKey } from './echo-key';
import type { Exchange } from '../exchange/exchange';
import type { Next } from '../../http/next';
import { areInMemory } from '../leases/memory-leases';
import { Renewal } from './renewal';
import { HandlerLease, requestIdempotency } from './request-idempotency';
import { record } from '../responses/recorder';
import type { Recording } from '../responses/recording';

/** A handler that runs under a lease. */
export interface Run {
  readonly recording: Recording;
  readonly renewal: Renewal;
  readonly lease: HandlerLease;
  /** In milliseconds of the monotonic clock. */
  readonly begun: number;
  readonly verdict: Verdict;
  /** Set when the handler has thrown an error that cannot be answered any more. */
  readonly thrown: Thrown | undefined;
}

/** What a handler has thrown, which may be undefined. */
interface Thrown {
  readonly error: unknown;
}

/** What the handler, and the middlewares before it, have decided about the response. */
interface Verdict {
  /** True when nothing is to be kept. */
  keepsNothing: boolean;
  /** Set when a middleware has refused the request before it reached the handler. */
  refusal?: { readonly reason: unknown };
}

/** What is undone if a handler throws before it has begun to respond. */
interface Undo {
  lease?: HandlerLease;
  recording?: Recording;
  renewal?: Renewal;
}

/** Starts the handler. If anything throws before it has begun to respond, gives the lease back. */
export function startHandler(exchange: Exchange, attempt: Attempt, asked: number): Awaitable<Run> {
  const undo: Undo = {};
  try {
    return start(exchange, attempt, asked, undo);
  } catch (error) {
    undo.renewal?.stop();
    undo.lease?.giveBack();
    undo.recording?.discard();
    return exchange.stores.releaseQuietly(attempt).then(() => {
      throw error;
    });
  }
}

/** @param undo gets what is to be undone if this throws. */
function start(
  { req, res, next, options, stores, reporter }: Exchange,
  attempt: Attempt,
  asked: number,
  undo: Undo,
): Run {
  const lease = (undo.lease = new HandlerLease());
  const verdict: Verdict = { keepsNothing: false };
  const recording = (undo.recording = record(req, res, options));
  // Not written in the object itself: V8 makes such functions in its old generation, where they keep all that belongs
  // to the request until the next major garbage collection. That took a tenth of the CPU time.
  const forget = (): void => {
    verdict.keepsNothing = true;
    recording.stopHidingDeparture();
  };
  const refused = (reason: unknown): void => {
    verdict.refusal = { reason };
    forget();
  };
  (req as { idempotency?: unknown }).idempotency = requestIdempotency(attempt, lease, forget, refused);
  echoKey(req, res, options);
  const renewal = (undo.renewal = new Renewal(attempt, options.leaseDuration, stores, asked, () => {
    lease.lose();
    recording.stopHidingDeparture();
    reporter.reportLostLease();
  }));
  if (!areInMemory(options.leases)) lease.watch(renewal);
  const begun = performance.now();
  const thrown = callHandler(next, recording);
  return { recording, renewal, lease, begun, verdict, thrown };
}

/**
 * Calls what is mounted after `idempotency()`. Express catches what a handler throws; without Express, that arrives
 * here. A handler that has ended its response has run, whatever it throws then. One that has only begun to respond has
 * broken its response off.
 * @returns what was thrown when it could not be answered any more.
 * @throws what was thrown before the handler had begun to respond.
 */
function callHandler(next: Next, recording: Recording): Thrown | undefined {
  try {
    next();
    return undefined;
  } catch (error) {
    if (!recording.hasResponded) throw error;
    recording.breakOff();
    return { error };
  }
}
