import type { IdempotencyEventKind } from 'bindonce';

/** Events that a page gets when it is opened. */
export const MOST_EVENTS = 100;

/** An event that the page shows. */
export interface ShopEvent {
  /** An outcome of `idempotency()`, or an event of this shop; `unguarded` is an order placed without bindonce. */
  readonly kind: IdempotencyEventKind | 'paying' | 'unguarded' | 'process-started' | 'process-ended';
  /** When it happened, in milliseconds since 1970. */
  readonly at: number;
  /** The number of the process, which is not given twice. */
  readonly process: number;
  /** The request; its path; the cart that is ordered; the idempotency key. */
  readonly request?: string;
  readonly path?: string;
  readonly cart?: string | undefined;
  readonly key?: string;
  /** Milliseconds that the request took. */
  readonly durationMs?: number;
  /** Milliseconds of it in which the handler ran. */
  readonly handlerMs?: number | undefined;
  readonly status?: number | undefined;
}

/** A message of a process to the one that has started it. */
export type Message =
  | ShopEvent
  /** Asks to kill the process that takes a payment, or else the sender. */
  | { readonly kind: 'crash' }
  /** Something to print, which several processes notice. */
  | { readonly kind: 'complaint'; readonly text: string };

/** Sends a message to the process that has started this one. */
export function tell(message: Message): void {
  process.send?.(message);
}
