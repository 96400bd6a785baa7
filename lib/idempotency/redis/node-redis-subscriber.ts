import type { RedisSubscriber } from './connection';
import { keepInStep } from './in-step';
import type { Listener, NodeRedisClient } from './node-redis-client';

export function listenerOf(onMessage: (channel: string) => void): Listener {
  return (_message, channel) => {
    onMessage(String(channel));
  };
}

/** Subscriptions on a single node, over a second client with the same options. */
export class NodeRedisSubscriber implements RedisSubscriber {
  private readonly channels = new Set<string>();
  private readonly ready: Promise<unknown>;
  private readonly listener: Listener;
  /** True while it opens a connection, or is about to. */
  private isConnecting = true;

  constructor(
    private readonly client: NodeRedisClient,
    onMessage: (channel: string) => void,
  ) {
    this.listener = listenerOf(onMessage);
    keepInStep(client);
    // Without a listener an 'error' event ends the process. Ignoring the error loses nothing: waiters poll.
    for (const event of ['reconnecting', 'connect', 'error'] as const)
      client.on(event, () => {
        this.isConnecting = event === 'reconnecting';
        this.closeIfUnused();
      });
    this.ready = client.connect();
  }

  get isOpen(): boolean {
    return this.client.isOpen;
  }

  async subscribe(channel: string): Promise<void> {
    this.channels.add(channel);
    await this.ready;
    // It may have been left meanwhile.
    if (this.channels.has(channel)) await this.client.subscribe(channel, this.listener);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.channels.delete(channel);
    if (this.channels.size > 0) await this.client.unsubscribe(channel, this.listener);
    else this.closeIfUnused();
  }

  /**
   * Closes the client, but not while it opens a connection: it would keep that, and could not be closed any more. It
   * does not take longer than `connectTimeout`.
   */
  private closeIfUnused(): void {
    if (this.channels.size === 0 && !this.isConnecting && this.client.isOpen) this.client.destroy();
  }
}
