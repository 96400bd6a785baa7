import { Watchers } from '../../leases/waiting';

/** A connection for subscriptions and nothing else. */
export interface Subscriptions {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  close(): void;
}

/**
 * Opens such a connection.
 * @param onMessage called with the channel of each message.
 * @param onEnd called when the connection has broken: it does not connect again.
 */
export type OpenSubscriptions = (onMessage: (channel: string) => void, onEnd: () => void) => Promise<Subscriptions>;

/**
 * Notifies all waiters of this process, over one connection that the first of them opens. When it breaks, those who
 * wait on it poll, and the next who waits opens another.
 */
export class Subscriber {
  private connection: Promise<Subscriptions> | undefined;
  private readonly watchers = new Watchers();

  constructor(private readonly open: OpenSubscriptions) {}

  /** Resolves when it listens. @throws Error if it cannot. */
  async watch(channel: string, onChange: () => void): Promise<() => void> {
    const subscriptions = await this.connected();
    const remove = this.watchers.add(channel, onChange);
    const stop = (): void => {
      remove();
      this.leave(channel).catch(() => undefined);
    };
    try {
      await subscriptions.subscribe(channel);
      return stop;
    } catch (error) {
      stop();
      throw error;
    }
  }

  close(): void {
    this.connection?.then(
      subscriptions => {
        subscriptions.close();
      },
      () => undefined,
    );
    this.connection = undefined;
  }

  private connected(): Promise<Subscriptions> {
    if (this.connection) return this.connection;
    const forget = (): void => {
      if (this.connection === opening) this.connection = undefined;
    };
    const opening = this.open(channel => {
      this.watchers.notify(channel);
    }, forget);
    opening.catch(forget);
    this.connection = opening;
    return opening;
  }

  /** Ends the subscription to a channel, unless someone has come to wait meanwhile. */
  private async leave(channel: string): Promise<void> {
    const subscriptions = await this.connection;
    if (!this.watchers.has(channel)) await subscriptions?.unsubscribe(channel);
  }
}
