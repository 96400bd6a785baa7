import type { IdempotencyEventKind } from 'bindonce';

/** Events that a page gets when it is opened. */
export const MOST_EVENTS = 100;

/** An event that the page shows. */
export type ShopEvent = ProcessEvent | RequestEvent;

interface Happening {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The number of the process. */
  readonly process: number;
}

export interface ProcessEvent extends Happening {
  readonly kind: 'process-started' | 'process-ended';
}

/** An outcome of `idempotency()`, or: the payment begins, or an order was placed without bindonce. */
export interface RequestEvent extends Happening {
  readonly kind: IdempotencyEventKind | 'paying' | 'unguarded';
  /** Its id: the header X-Request-Id, if the client sends one. */
  readonly request: string;
  readonly path: string;
  /** The header X-Cart: two orders of one cart were meant to be one. */
  readonly cart: string | undefined;
  /** The idempotency key. */
  readonly key?: string;
  /** Milliseconds from the receipt of the request to this event. */
  readonly durationMs?: number;
  /** Milliseconds of it in which the handler ran. */
  readonly handlerMs?: number | undefined;
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
