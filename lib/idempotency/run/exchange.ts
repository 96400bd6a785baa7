import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { isExchangeOver } from '../../http/exchange-end';
import type { Next } from '../../http/express';
import { Problem } from '../../problems/problem';
import { warnOnce } from '../../warnings/warn-once';
import { bodyParts } from '../identity/body-parts';
import { identify } from '../identity/cache-key';
import { Caller } from '../identity/caller';
import { readKey } from '../identity/key';
import type { RunId } from '../leases/token';
import type { IdempotencyEvent } from '../options/events';
import type { ResolvedOptions } from '../options/resolved-options';
import { StoreUnavailable } from '../store-calls/store-call';
import type { TimedStores } from '../store-calls/timed-stores';

/** What becomes of a request, as `onEvent` is told, and how its client is answered. */
export interface Outcome {
  readonly kind: IdempotencyEvent['kind'];
  /** Of the response, if one is sent. */
  readonly status?: number | undefined;
  readonly handlerMs?: number;
  readonly error?: unknown;
  /** Answers the client; absent if there is no one left to answer. @throws what the request is refused with. */
  readonly answer?: () => void;
}

/** Makes the outcome of a request that is refused; what it is refused with is also what is told of it. */
export const refusal = (error: unknown): Outcome => ({
  kind: 'refused',
  error,
  status: Problem.is(error) ? error.status : undefined,
  answer() {
    throw error;
  },
});

const UNKNOWN: RunId = { cacheKey: '', token: '' };

/** One request on its way through the middleware, and its attempt to get the right to run. */
export class Exchange {
  private readonly received = performance.now();
  /** Empty until the key has been read. */
  key = '';
  caller: Caller | undefined;
  /** Of empty texts until the request has been identified. */
  id = UNKNOWN;
  /** When the lease was asked for last, in milliseconds of the monotonic clock: it begins no earlier. */
  asked = 0;

  constructor(
    readonly req: IncomingMessage,
    readonly res: ServerResponse,
    readonly next: Next,
    readonly options: ResolvedOptions,
    readonly stores: TimedStores,
  ) {}

  /**
   * Returns the outcome of a request that cannot be answered any more; undefined for any other. Its client has
   * disconnected, or an earlier middleware (a timeout) has responded: then there is nothing left to do. If an earlier
   * middleware has only begun to respond, it counts on a later one for the end, so the error handlers have to end it.
   */
  outcomeIfUnanswerable(): Outcome | undefined {
    const { req, res } = this;
    if (isExchangeOver(req, res) || res.writableEnded) return { kind: 'abandoned' };
    if (!res.headersSent) return undefined;
    return refusal(
      new Error(
        'idempotency: a middleware that is mounted before idempotency() has sent the head of the response, so the ' +
          'request can be answered neither by the handler nor with a stored response. Mount idempotency() before it.',
      ),
    );
  }

  /**
   * Identifies the request: its key, its caller, and what it runs under.
   * @throws Problem when it has no usable key, or a body that cannot be read; ClientGone; Error when its caller cannot
   * be told apart from others.
   */
  identify(): Awaitable<void> {
    const { req, res, options } = this;
    this.key = readKey(req, options.headerName, options.keyPattern);
    const caller = (this.caller = new Caller(req, options));
    return after(options.ignoreRequestBody ? [] : bodyParts(req, res, options), body => {
      this.id = identify(req, this.key, caller.scope, body, options);
    });
  }

  /** Tells `onEvent`. An observer that throws must not change the outcome of the request. */
  report({ kind, status, handlerMs, error }: Outcome): void {
    const { key, id, received, req } = this;
    const { telemetry } = this.options;
    const onEvent = this.options.onEvent as ((event: IdempotencyEvent, req: Request) => unknown) | undefined;
    if (!onEvent && error instanceof StoreUnavailable)
      warnOnce('BINDONCE_STORE', `idempotency: ${error.message} Later failures of the store are told to onEvent only.`);
    if (!onEvent && !telemetry) return;
    const event: IdempotencyEvent = {
      kind,
      key,
      cacheKey: id.cacheKey,
      startTime: performance.timeOrigin + received,
      durationMs: performance.now() - received,
      ...(handlerMs !== undefined && { handlerMs }),
      ...(status !== undefined && { status }),
      ...(error !== undefined && { error }),
    };
    try {
      telemetry?.report(event, routeOf(req as Request));
      const returned = onEvent?.(event, req as Request);
      if (isPromise(returned)) returned.catch(warn);
    } catch (thrown) {
      warn(thrown);
    }
  }
}

/** Returns the path of the route that Express has reached. */
function routeOf({ baseUrl = '', route }: { readonly baseUrl?: string; readonly route?: unknown }): string | undefined {
  const { path } = Object(route) as { readonly path?: unknown };
  return typeof path === 'string' ? `${baseUrl}${path}` : undefined;
}

function warn(error: unknown): void {
  warnOnce(
    'BINDONCE_ON_EVENT',
    `idempotency: onEvent failed (${String(error)}), and the request is served all the same. Correct onEvent.`,
  );
}
