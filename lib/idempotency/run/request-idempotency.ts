import { createHash, randomUUID } from 'node:crypto';
import { REFUSED } from '../../problems/answer';
import type { Exchange } from './exchange';
import type { TransactionAdapter } from '../stores/transactions';

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
  /**
   * Makes a key out of that of this request, to hand to another service, for example a payment provider: the same for
   * each attempt at this request, and another for every other request, caller and name.
   * @param name of what is asked for, for example `'charge'`.
   */
  derivedKey(name: string): string;
  /**
   * Runs `work` in a transaction of the application's own database, and commits its effects together with the response
   * and the record that the request was executed: all of them, or none. The response that `work` makes is sent after
   * COMMIT. Needs `store: postgresStore(pool)` on the same database.
   * @param adapter of the library: `fromPg(pool)`, `fromDrizzle(db)`, …
   * @param work may run up to three times, where PostgreSQL rolls it back for the sake of another transaction: it does
   * nothing but work on the database, and answer.
   * @throws Error if nothing was committed; a 503 problem if that is not known. What is answered then is not stored.
   */
  commitWith<Tx, T>(adapter: TransactionAdapter<Tx>, work: (tx: Tx) => Promise<T>): Promise<T>;
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

/** The `req.idempotency` of a request, and what the handler, and the middlewares before it, decide by it. */
export class RequestGuard implements RequestIdempotency {
  /** True when nothing is to be kept. */
  isForgotten = false;
  /** Set when a middleware has refused the request before it reached the handler. */
  refusal: { readonly reason: unknown } | undefined;
  /** Why the lease is over. */
  private reason: string | undefined;
  private controller: AbortController | undefined;
  private seed: string | undefined;

  constructor(
    readonly key: string,
    readonly cacheKey: string,
    private readonly run: {
      /** Called when nothing is to be kept. */
      forgotten(): void;
      /** Runs a transaction of the application, as this request is guarded. */
      readonly commit: RequestIdempotency['commitWith'];
    },
  ) {}

  // Of the object itself: a handler may take it off, and a middleware may copy it.
  readonly forget = (): void => {
    this.isForgotten = true;
    this.run.forgotten();
  };

  readonly [REFUSED] = (reason: unknown): void => {
    this.refusal = { reason };
    this.forget();
  };

  derivedKey(name: string): string {
    // A request that has no key is not recognised: its keys are of this attempt alone.
    this.seed ??= this.cacheKey || randomUUID();
    return createHash('sha256')
      .update(JSON.stringify([this.seed, name]))
      .digest('base64url');
  }

  commitWith<Tx, T>(adapter: TransactionAdapter<Tx>, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.run.commit(adapter, work);
  }

  /** Made when it is first asked for: few handlers look at it, and it takes 5 µs. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.reason !== undefined) this.endLease(this.reason);
    return this.controller.signal;
  }

  /** Aborts the signal. Called before another request may run: the handler may still be at work. */
  endLease(reason: string): void {
    this.reason ??= reason;
    this.controller?.abort(new Error(this.reason));
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
export function echoKey({ req, res, options: { addHeaderToResponse, headerName } }: Exchange): void {
  const sent: unknown = req.headers[headerName.toLowerCase()];
  if (!addHeaderToResponse || res.hasHeader(headerName)) return;
  if (typeof sent === 'string' && HEADER_VALUE.test(sent)) res.setHeader(headerName, sent);
}
