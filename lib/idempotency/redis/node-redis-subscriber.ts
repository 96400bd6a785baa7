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

  constructor(
    private readonly client: NodeRedisClient,
    onMessage: (channel: string) => void,
  ) {
    this.listener = listenerOf(onMessage);
    // Without a listener an 'error' event ends the process. Ignoring it loses nothing: waiters poll.
    client.on('error', () => undefined);
    keepInStep(client);
    this.ready = client.connect();
  }

  get isOpen(): boolean {
    return this.client.isOpen;
  }

  async subscribe(channel: string): Promise<void> {
    this.channels.add(channel);
    await this.ready;
    await this.client.subscribe(channel, this.listener);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.channels.delete(channel);
    if (this.channels.size > 0) await this.client.unsubscribe(channel, this.listener);
    else if (this.client.isOpen) this.client.destroy();
  }
}
