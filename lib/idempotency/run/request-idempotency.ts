import type { IncomingMessage, ServerResponse } from 'node:http';
import { REFUSED } from '../../problems/answer';
import type { Attempt } from '../exchange/exchange';
import type { ResolvedOptions } from '../options/resolved-options';

/** What the handler of a guarded request sees of its guard. */
export interface RequestIdempotency {
  /** The idempotency key that the client sent. Two callers may send the same: pass `cacheKey` on to a provider. */
  readonly key: string;
  /** The key that the response is stored under; `purge()` takes it. It tells callers and requests apart. */
  readonly cacheKey: string;
  /** Aborts when the lease is lost, or given back: another request may run the handler from then on. */
  readonly signal: AbortSignal;
  /** "Nothing happened here": the response is sent but not stored, and a retry runs the handler again. */
  forget(): void;
}

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- Express's types are extended in this namespace
  namespace Express {
    interface Request {
      /** The guard of this request; set by `idempotency()`. */
      idempotency: RequestIdempotency;
    }
  }
}

/** The lease that a handler runs under. Its `signal` aborts when it is over. */
export class HandlerLease {
  /** True if the lease was lost: it has expired, or another request has it. */
  isLost = false;
  /** Why the lease is over. */
  private reason: string | undefined;
  private controller: AbortController | undefined;

  lose(): void {
    this.isLost = true;
    this.end('The idempotency lease was lost: another request may run the handler.');
  }

  /** Ends the lease before another request may run: the handler may still be at work. */
  giveBack(): void {
    this.end('The idempotency lease was given back: the response is not stored, and a retry runs the handler.');
  }

  /** Made when it is first asked for: few handlers look at it, and it takes 5 µs. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.reason !== undefined) this.end(this.reason);
    return this.controller.signal;
  }

  private end(reason: string): void {
    this.reason ??= reason;
    this.controller?.abort(new Error(this.reason));
  }
}

/** The `req.idempotency` of a guarded request. */
export class GuardedRequest implements RequestIdempotency {
  readonly key: string;
  readonly cacheKey: string;
  readonly [REFUSED]: (reason: unknown) => void;

  /** @param refused called when a later middleware refuses the request before its handler has run. */
  constructor(
    { key, cacheKey }: Attempt,
    private readonly lease: HandlerLease,
    readonly forget: () => void,
    refused: (reason: unknown) => void,
  ) {
    this.key = key;
    this.cacheKey = cacheKey;
    this[REFUSED] = refused;
  }

  get signal(): AbortSignal {
    return this.lease.signal;
  }
}

/**
 * Characters that a response header may have (RFC 9110, section 5.5). Node, or an earlier middleware, may accept more.
 */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Sets the key header before the handler runs, so that it is part of the response that is stored. A key that a header
 * cannot carry is not echoed.
 */
export function echoKey(
  req: IncomingMessage,
  res: ServerResponse,
  { addHeaderToResponse, headerName }: ResolvedOptions,
): void {
  const sent: unknown = req.headers[headerName.toLowerCase()];
  if (!addHeaderToResponse || res.hasHeader(headerName)) return;
  if (typeof sent === 'string' && HEADER_VALUE.test(sent)) res.setHeader(headerName, sent);
}
