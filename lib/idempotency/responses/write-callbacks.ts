import { steps } from '../../basics/steps';
import type { Callback } from './response-parts';

/** Tells how a connection looks to the handler. */
interface Hiding {
  /** True while the connection is broken, or has closed, and the handler must not learn of it. */
  readonly hidesBreak: boolean;
}

/**
 * Calls the callbacks of the handler's writes, each once. For a write that still waits for a connection which has
 * closed, node reports an error (from Node 24 on), or never calls back.
 */
export class WriteCallbacks {
  private readonly waiting = new Set<Callback>();

  constructor(private readonly connection: Hiding) {}

  /** Returns what node gets in place of a callback. */
  keep(callback: Callback): Callback {
    const settle: Callback = error => {
      if (!this.waiting.delete(settle)) return;
      if (error && this.connection.hidesBreak) callback();
      else callback(error);
    };
    this.waiting.add(settle);
    return settle;
  }

  /** Calls all that still wait, without an error, in the next tick. */
  settle(): void {
    for (const settle of this.waiting) steps.nextTick(settle);
  }
}
