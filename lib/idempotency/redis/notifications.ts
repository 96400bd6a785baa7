import type { RedisConnection, RedisSubscriber } from './connection';

/** The watchers of one channel in this process. */
interface Watched {
  readonly watchers: Set<() => void>;
  subscribed: Promise<unknown>;
}

/** Notifies all waiters of this process, over one extra connection that is open only while there are any. */
export class RedisNotifications {
  private subscriber: RedisSubscriber | undefined;
  private readonly channels = new Map<string, Watched>();

  constructor(private readonly connection: Pick<RedisConnection, 'subscriber'>) {}

  async watch(channel: string, onChange: () => void): Promise<() => void> {
    const subscriber = this.open();
    const watched = this.channels.get(channel) ?? { watchers: new Set(), subscribed: subscriber.subscribe(channel) };
    this.channels.set(channel, watched);
    // A new function, because the same one may watch twice.
    const watcher = (): void => {
      onChange();
    };
    watched.watchers.add(watcher);
    const stop = (): void => {
      this.leave(channel, watched, watcher);
    };
    try {
      await watched.subscribed;
      return stop;
    } catch (error) {
      stop();
      throw error;
    }
  }

  /** Returns the subscriber. One that has given up is replaced, and all watched channels are subscribed again. */
  private open(): RedisSubscriber {
    if (this.subscriber?.isOpen) return this.subscriber;
    const subscriber = this.connection.subscriber(channel => {
      this.notify(channel);
    });
    this.subscriber = subscriber;
    for (const [channel, watched] of this.channels) {
      watched.subscribed = subscriber.subscribe(channel);
      watched.subscribed.catch(() => undefined);
    }
    return subscriber;
  }

  private notify(channel: string): void {
    for (const watcher of [...(this.channels.get(channel)?.watchers ?? [])]) watcher();
  }

  private leave(channel: string, watched: Watched, watcher: () => void): void {
    watched.watchers.delete(watcher);
    if (watched.watchers.size > 0 || this.channels.get(channel) !== watched) return;
    this.channels.delete(channel);
    this.subscriber?.unsubscribe(channel).catch(() => undefined);
  }
}
