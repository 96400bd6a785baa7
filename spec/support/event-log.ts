import { EventEmitter, once } from 'node:events';
import type { IdempotencyEvent, IdempotencyEventKind } from '../../lib';

/** Keeps what `onEvent` is told, and lets a spec wait for it. */
export class EventLog {
  readonly events: IdempotencyEvent[] = [];
  private readonly emitter = new EventEmitter();

  readonly onEvent = (event: IdempotencyEvent): void => {
    this.events.push(event);
    this.emitter.emit('event', event);
  };

  get kinds(): IdempotencyEventKind[] {
    return this.events.map(({ kind }) => kind);
  }

  /** The first event of this kind, now or later. */
  async first(kind: IdempotencyEventKind): Promise<IdempotencyEvent> {
    for (;;) {
      const found = this.events.find(event => event.kind === kind);
      if (found) return found;
      await once(this.emitter, 'event');
    }
  }
}
