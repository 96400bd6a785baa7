import { Watchers } from '../leases/watchers';
import type { RedisConnection, RedisSubscriber } from './connection';

/** Notifies all waiters of this process, over one extra connection that is open only while there are any. */
export class RedisNotifications {
  private subscriber: RedisSubscriber | undefined;
  /** The subscription to each watched channel. */
  private readonly subscriptions = new Map<string, Promise<unknown>>();
  private readonly watchers = new Watchers();

  constructor(private readonly connection: Pick<RedisConnection, 'subscriber'>) {}

  async watch(channel: string, onChange: () => void): Promise<() => void> {
    const subscriber = this.open();
    const subscription = this.subscriptions.get(channel) ?? subscriber.subscribe(channel);
    this.subscriptions.set(channel, subscription);
    const remove = this.watchers.add(channel, onChange);
    const stop = (): void => {
      remove();
      if (!this.watchers.has(channel)) this.leave(channel);
    };
    try {
      await subscription;
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
      this.watchers.notify(channel);
    });
    this.subscriber = subscriber;
    for (const channel of this.subscriptions.keys()) {
      const subscription = subscriber.subscribe(channel);
      subscription.catch(() => undefined);
      this.subscriptions.set(channel, subscription);
    }
    return subscriber;
  }

  private leave(channel: string): void {
    if (this.subscriptions.delete(channel)) this.subscriber?.unsubscribe(channel).catch(() => undefined);
  }
}
