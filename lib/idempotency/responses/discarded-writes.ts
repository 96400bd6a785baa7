import type { ServerResponse } from 'node:http';
import { steps } from '../../basics/steps';
import type { Outgoing } from './outgoing';

/** Accepts what a handler writes and is not to be sent. */
export class DiscardedWrites {
  /** Looked at once, when it is needed: a listener that a middleware keeps cannot be removed. */
  private isDrainHeard: boolean | undefined;

  constructor(
    private readonly res: ServerResponse,
    private readonly outgoing: Outgoing,
  ) {}

  /**
   * Accepts a write in the next turn of the event loop. If it were accepted at once, a stream that always has more
   * would never let other code run.
   * @param done called when it is accepted.
   * @returns false, as `write` does, if the writer should wait for `drain`.
   */
  accept(done: (() => void) | undefined): boolean {
    steps.setImmediate(() => {
      done?.();
      this.outgoing.emit('drain');
    });
    return !(this.isDrainHeard ??= hearsDrain(this.res));
  }
}

/**
 * Returns true if listeners of `drain` are called when `res` emits it. A middleware with its own `on` may keep them
 * (compression) or add them (OpenTelemetry and others, which call each in the context in which it was added).
 */
function hearsDrain(res: ServerResponse): boolean {
  const before = res.listenerCount('drain');
  const listener = (): void => undefined;
  res.on('drain', listener);
  const isAdded = res.listenerCount('drain') > before;
  res.removeListener('drain', listener);
  return isAdded;
}
