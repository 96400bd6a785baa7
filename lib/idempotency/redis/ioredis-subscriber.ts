import type { RedisSubscriber } from './connection';
import type { IoredisClient } from './ioredis-client';

/** A client of a single node, or one that asks sentinels. */
export interface DuplicableIoredis extends IoredisClient {
  duplicate(options: object): IoredisClient;
}

/** Subscriptions on the master, over a second client with the same options. */
export class IoredisSubscriber implements RedisSubscriber {
  private readonly channels = new Set<string>();
  private readonly client: IoredisClient;
  private hasClosed = false;

  constructor(client: DuplicableIoredis, onMessage: (channel: string) => void) {
    // bindonce subscribes again after a reconnection: the client's own way leaves a rejection unhandled if that fails.
    this.client = client.duplicate({ enableOfflineQueue: true, autoResubscribe: false });
    this.client.on('error', () => undefined);
    this.client.on('ready', () => {
      if (this.channels.size > 0) this.client.subscribe(...this.channels).catch(() => undefined);
    });
    this.client.on('message', channel => {
      onMessage(String(channel));
    });
  }

  get isOpen(): boolean {
    // After disconnect(), the status is 'ready' until the connection is closed.
    return !this.hasClosed && this.client.status !== 'end';
  }

  subscribe(channel: string): Promise<unknown> {
    this.channels.add(channel);
    return this.client.subscribe(channel);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.channels.delete(channel);
    if (this.channels.size > 0) {
      await this.client.unsubscribe(channel);
      return;
    }
    this.hasClosed = true;
    this.client.disconnect();
  }
}

/** Subscriptions on a Cluster, whose client uses a connection of its own. */
export class IoredisClusterSubscriber implements RedisSubscriber {
  constructor(
    private readonly client: IoredisClient,
    onMessage: (channel: string) => void,
  ) {
    client.on('message', channel => {
      onMessage(String(channel));
    });
  }

  get isOpen(): boolean {
    return this.client.status !== 'end';
  }

  subscribe(channel: string): Promise<unknown> {
    return this.client.subscribe(channel);
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.client.unsubscribe(channel);
  }
}
