import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Awaitable } from '../basics/awaitable';
import { REFUSED } from '../problems/refuse';
import type { Attempt } from './attempt';
import type { Exchange } from './exchange';
import type { ResolvedOptions } from './options';
import { Renewal } from './renewal';
import { record } from './responses/recorder';
import type { Recording } from './responses/recording';

/** The guard of a request, as its handler sees it. */
export interface RequestIdempotency {
  /** The idempotency key that the client sent. */
  readonly key: string;
  /** The key that the response is stored under; `purge()` takes it. */
  readonly cacheKey: string;
  /** Aborts when the lease is lost, or given back: another request may run the handler from then on. */
  readonly signal: AbortSignal;
  /** "Nothing happened here": the response is sent but not stored, and a retry runs the handler again. */
  forget(): void;
}

/** A handler that runs under a lease. */
export interface Run {
  readonly recording: Recording;
  readonly renewal: Renewal;
  readonly lease: LeaseState;
  /** In milliseconds of the monotonic clock. */
  readonly begun: number;
  readonly wishes: Wishes;
}

/** Wishes of the handler, and of the middlewares before it, for its response. */
interface Wishes {
  /** True when nothing is to be kept. */
  forget: boolean;
  /** Set when a middleware has refused the request before it reached the handler. */
  refusal?: { readonly reason: unknown };
}

/** The lease of a guard. */
const LEASE = Symbol('lease');

/**
 * The `signal` of a guard, which is a property of its own, so that it is copied with the others. All guards have one
 * function for it: with a function each, V8 also makes a shape for each (1 µs).
 */
const SIGNAL = {
  get(this: { readonly [LEASE]: LeaseState }): AbortSignal {
    return this[LEASE].signal;
  },
  enumerable: true,
};

/** Tells that the lease was lost, and signals on demand that it is over. */
class LeaseState {
  isLost = false;
  private isOver = false;
  private controller: AbortController | undefined;

  lose(): void {
    this.isLost = true;
    this.end();
  }

  /** To be called before another request may run, if the handler may still be at work. */
  end(): void {
    this.isOver = true;
    this.controller?.abort(new Error('The idempotency lease was lost'));
  }

  /** Made when it is first asked for: few handlers look at it, and it takes 5 µs. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isOver) this.end();
    return this.controller.signal;
  }
}

/** Starts the handler. If anything throws before that, gives the lease back. */
export function startHandler(exchange: Exchange, attempt: Attempt, asked: number): Awaitable<Run> {
  const undo: { recording?: Recording; renewal?: Renewal } = {};
  try {
    return start(exchange, attempt, asked, undo);
  } catch (error) {
    // Express catches what a handler throws; without Express, that arrives here, too.
    undo.renewal?.stop();
    undo.recording?.discard();
    const fail = (): never => {
      throw error;
    };
    return exchange.stores.release(attempt).then(fail, fail);
  }
}

/** @param undo gets what is to be undone if this throws. */
function start(
  { req, res, next, options, stores, reporter }: Exchange,
  attempt: Attempt,
  asked: number,
  undo: { recording?: Recording; renewal?: Renewal },
): Run {
  const lease = new LeaseState();
  const wishes: Wishes = { forget: false };
  const recording = (undo.recording = record(req, res, options));
  // Not written in the object itself: V8 makes such functions in its old generation, where they keep all that belongs
  // to the request until the next major garbage collection. That took a tenth of the CPU time.
  const forget = (): void => {
    wishes.forget = true;
    recording.reportDeparture();
  };
  const refused = (reason: unknown): void => {
    wishes.refusal = { reason };
    forget();
  };
  const guard = { key: attempt.key, cacheKey: attempt.cacheKey, forget, [REFUSED]: refused, [LEASE]: lease };
  Object.defineProperty(guard, 'signal', SIGNAL);
  (req as { idempotency?: unknown }).idempotency = guard;
  echoKey(req, res, options);
  const renewal = (undo.renewal = new Renewal(attempt, options.leaseDuration, stores, asked, () => {
    lease.lose();
    recording.reportDeparture();
    reporter.reportLostLease();
  }));
  const begun = performance.now();
  next();
  return { recording, renewal, lease, begun, wishes };
}

/**
 * Characters that a response header may have (RFC 9110, section 5.5). Node, or an earlier middleware, may accept more.
 */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Sets the key header before the handler runs, so that it is part of the response that is stored. A key that a header
 * cannot carry is not echoed.
 */
function echoKey(
  req: IncomingMessage,
  res: ServerResponse,
  { addHeaderToResponse, headerName }: ResolvedOptions,
): void {
  const sent: unknown = req.headers[headerName.toLowerCase()];
  if (!addHeaderToResponse || res.hasHeader(headerName)) return;
  if (typeof sent === 'string' && HEADER_VALUE.test(sent)) res.setHeader(headerName, sent);
}
