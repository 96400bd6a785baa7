import { outsideRequests } from '../../basics/outside-requests';
import { Watchers } from '../leases/watchers';
import type { RedisConnection, RedisSubscriber } from './connection';

/**
 * Milliseconds that a subscription may take. A client may try forever to connect: Redis takes no more clients, its
 * password has changed, a firewall is in between. Those who have waited that long poll.
 */
const LONGEST = 5_000;

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
      await inTime(subscription);
      return stop;
    } catch (error) {
      stop();
      throw error;
    }
  }

  /** Returns the subscriber. One that has given up is replaced, and all watched channels are subscribed again. */
  private open(): RedisSubscriber {
    if (this.subscriber?.isOpen) return this.subscriber;
    const subscriber = outsideRequests(() =>
      this.connection.subscriber(channel => {
        this.watchers.notify(channel);
      }),
    );
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

/** @throws Error if the subscription takes too long. */
async function inTime(subscription: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`bindonce: Redis did not confirm a subscription within ${LONGEST} ms`));
    }, LONGEST).unref();
  });
  try {
    await Promise.race([subscription, late]);
  } finally {
    clearTimeout(timer);
  }
}
