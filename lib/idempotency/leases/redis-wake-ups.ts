/** A connection in subscriber mode, which can do nothing else. */
export interface RedisSubscriber {
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  subscribe(channel: string, listener: () => void): Promise<unknown>;
  unsubscribe(channel: string, listener: () => void): Promise<unknown>;
}

/** The subscriptions of all waiters of this process, on one extra connection. */
export class RedisWakeUps {
  private subscriber: { readonly client: RedisSubscriber; readonly ready: Promise<unknown> } | undefined;
  private watching = 0;

  constructor(private readonly client: { duplicate?(): RedisSubscriber }) {}

  async watch(channel: string, onChange: () => void): Promise<() => void> {
    this.watching++;
    try {
      const { client, ready } = this.subscriber ??= this.open();
      await ready;
      await client.subscribe(channel, onChange);
      return () => {
        void client.unsubscribe(channel, onChange).catch(() => undefined).then(() => { this.leave(); });
      };
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  private open(): NonNullable<RedisWakeUps['subscriber']> {
    if (!this.client.duplicate) throw new Error('bindonce: this Redis client cannot be duplicated');
    const client = this.client.duplicate();
    // Without a listener an 'error' event ends the process. Nothing is lost by ignoring it: waiters ask again by themselves.
    client.on('error', () => undefined);
    return { client, ready: client.connect() };
  }

  /** The connection is open only while somebody waits, so that it never keeps a process from ending. */
  private leave(): void {
    if (--this.watching > 0) return;
    const { subscriber } = this;
    this.subscriber = undefined;
    try {
      subscriber?.client.destroy();
    } catch { /* it was closed already */ }
  }
}
