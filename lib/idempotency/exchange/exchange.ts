import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import { isPromise } from '../../basics/awaitable';
import { isExchangeOver } from '../../http/exchange-end';
import type { Next } from '../../http/express';
import { pathOf } from '../../problems/answer';
import { Problem } from '../../problems/problem';
import { warnOnce } from '../../warnings/warn-once';
import { identify } from '../identity/cache-key';
import type { Caller } from '../identity/caller';
import { readKey } from '../identity/key';
import { RequestFacts } from '../leases/runs';
import { newToken, type RunId } from '../leases/token';
import type { IdempotencyEvent, IdempotencyEventKind } from '../options/events';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { StoreUnavailable } from '../store-calls/store-call';
import type { TimedStores } from '../store-calls/timed-stores';

/** The outcome of a request: `onEvent` is told its kind, and `answer()` answers the client. */
export type Outcome =
  /** The handler ran; with `sendEnd`, because what is mounted after `idempotency()` has answered. */
  | ({ readonly kind: 'executed' | 'not-stored' | 'forgotten' | 'refused' | 'abandoned' } & Ran)
  /** The request is refused by `idempotency()`: nothing has run. */
  | { readonly kind: 'refused'; readonly error: unknown; readonly status: number | undefined }
  /** There is no one left to answer, and nothing ran. */
  | { readonly kind: 'abandoned' }
  /** An earlier run of the same request is done: its response is sent. */
  | { readonly kind: 'replayed' | 'waited'; readonly response: RecordedResponse; readonly status: number }
  /** An earlier run is done, but its response was not kept; or its process died, and nobody knows what it has done. */
  | { readonly kind: 'unavailable' | 'outcome-unknown'; readonly status: 409 }
  /** Another request runs, or may begin to; it holds the lease for `msLeft` more milliseconds. */
  | { readonly kind: 'conflicted'; readonly status: 409; readonly msLeft: number }
  /** The key belongs to a request with other values. */
  | { readonly kind: 'reused'; readonly status: 422 }
  /** The store failed; `hasRun` is true if the request was executed before. */
  | { readonly kind: 'store-failed'; readonly status: 503; readonly error: unknown; readonly hasRun: boolean }
  /** The store failed, and the application prefers to run the handler without the guarantee. */
  | { readonly kind: 'store-failed'; readonly error: unknown; readonly unguarded: Attempt };

/** What is mounted after `idempotency()` was called, and its response has ended. */
interface Ran {
  /** Status of the response, if it is sent. */
  readonly status: number | undefined;
  readonly handlerMs: number;
  readonly error: unknown;
  /** Lets the end of the response go out, or closes the connection if it must not be taken for a whole one. */
  readonly sendEnd: () => void;
}

/** Makes the outcome of an error. */
export const refusal = (error: unknown): Outcome => ({
  kind: 'refused',
  error,
  status: Problem.is(error) ? error.status : undefined,
});

/** One request's attempt to get the right to run. */
export interface Attempt extends RunId {
  readonly key: string;
  readonly caller: Caller;
  /** Tells requests under one cache key apart. */
  readonly fingerprint: string;
  /** When the lease was asked for last, in milliseconds of the monotonic clock: it begins no earlier. */
  asked: number;
}

/** One request on its way through the middleware. */
export class Exchange {
  private readonly received = performance.now();
  /** Empty until the key has been read. */
  private key = '';
  /** Empty until the request has been identified. */
  private cacheKey = '';

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
   * Identifies the request: its key, caller, cache key and fingerprint.
   * @throws Problem when it has no usable key, or a body that cannot be read; ClientGone; Error when its caller cannot
   * be told apart from others.
   */
  async identify(): Promise<Attempt> {
    const { req, res, options } = this;
    const key = (this.key = readKey(req, options.headerName, options.keyPattern));
    const { caller, cacheKey, fingerprint } = await identify(req, res, key, options);
    this.cacheKey = cacheKey;
    const keepUnknown = options.whenOwnerDies === 'refuse' ? options.cacheDuration : undefined;
    const facts = new RequestFacts(req.method ?? '', pathOf(req) ?? '', keepUnknown, key, caller.scope);
    return { key, caller, cacheKey, fingerprint, token: newToken(fingerprint), facts, asked: 0 };
  }

  /** Tells `onEvent`. An observer that throws must not change the outcome of the request. */
  report(reported: Outcome | { readonly kind: IdempotencyEventKind }): void {
    const { key, cacheKey, received, req } = this;
    const onEvent = this.options.onEvent as ((event: IdempotencyEvent, req: Request) => unknown) | undefined;
    const { telemetry } = this.options;
    const { kind, status, handlerMs, error } = reported as Omit<IdempotencyEvent, 'key' | 'cacheKey'>;
    if (!onEvent && error instanceof StoreUnavailable)
      warnOnce('BINDONCE_STORE', `idempotency: ${error.message} Later failures of the store are told to onEvent only.`);
    if (!onEvent && !telemetry) return;
    try {
      const event: IdempotencyEvent = {
        kind,
        key,
        cacheKey,
        startTime: performance.timeOrigin + received,
        durationMs: performance.now() - received,
        ...(handlerMs !== undefined && { handlerMs }),
        ...(status !== undefined && { status }),
        ...(error !== undefined && { error }),
      };
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
