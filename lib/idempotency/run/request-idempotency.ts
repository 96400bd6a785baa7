import { REFUSED } from '../../problems/refuse';
import type { Attempt } from '../exchange/attempt';
import type { Renewal } from './renewal';

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

/** The property in which `req.idempotency` holds its lease. */
const LEASE = Symbol('lease');

/**
 * The `signal`, which is a property of its own, so that it is copied with the others. All requests have one
 * function for it: with a function each, V8 also makes a shape for each (1 µs).
 */
const SIGNAL = {
  get(this: { readonly [LEASE]: HandlerLease }): AbortSignal {
    return this[LEASE].signal;
  },
  enumerable: true,
};

/** The lease that a handler runs under. Its `signal` aborts when it is over. */
export class HandlerLease {
  /** True if the lease was lost: it has expired, or another request has it. */
  isLost = false;
  /** Why the lease is over. */
  private reason: string | undefined;
  private controller: AbortController | undefined;

  private renewal: Renewal | undefined;

  /** Lets the signal see that the lease has expired, before a timer reports it. */
  watch(renewal: Renewal): void {
    this.renewal = renewal;
  }

  /** Lets go of the renewal when the handler has ended: a signal that is kept must not keep the request. */
  stopWatching(): void {
    this.renewal = undefined;
  }

  /** Ends the lease if it has expired without notice. */
  look(): void {
    this.renewal?.loseIfOver();
  }

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
    this.controller ??= controllerOf(this);
    this.look();
    this.abortIfOver();
    return this.controller.signal;
  }

  private end(reason: string): void {
    this.reason ??= reason;
    this.abortIfOver();
  }

  private abortIfOver(): void {
    if (this.reason !== undefined) this.controller?.abort(new Error(this.reason));
  }
}

/** Makes a controller whose signal looks at the lease before it says whether it is aborted. */
function controllerOf(lease: HandlerLease): AbortController {
  const controller = new AbortController();
  const { signal } = controller;
  const isAborted = (): boolean => {
    lease.look();
    return Reflect.get<AbortSignal, 'aborted'>(AbortSignal.prototype, 'aborted', signal);
  };
  const throwIfAborted = (): void => {
    lease.look();
    AbortSignal.prototype.throwIfAborted.call(signal);
  };
  Object.defineProperties(signal, { aborted: { get: isAborted }, throwIfAborted: { value: throwIfAborted } });
  return controller;
}

/**
 * Makes the `req.idempotency` of a guarded request.
 * @param refused called when a later middleware refuses the request before its handler has run.
 */
export function requestIdempotency(
  { key, cacheKey }: Attempt,
  lease: HandlerLease,
  forget: () => void,
  refused: (reason: unknown) => void,
): RequestIdempotency {
  const visible = { key, cacheKey, forget, [REFUSED]: refused, [LEASE]: lease };
  return Object.defineProperty(visible, 'signal', SIGNAL) as typeof visible & Pick<RequestIdempotency, 'signal'>;
}
