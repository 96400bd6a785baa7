import type { RedisConnection, RedisSubscriber } from './connection';

/** Commands that are sent together, over one connection. */
interface IoredisPipeline {
  eval(script: string, keys: number, ...keysAndArguments: string[]): IoredisPipeline;
  wait(replicas: number, ms: number): IoredisPipeline;
  exec(): Promise<readonly (readonly [error: Error | null, answer: unknown])[] | null>;
}

/** What we use of a client of ioredis or iovalkey: single node, Sentinel or Cluster. */
export interface IoredisClient {
  readonly status: string;
  readonly isCluster: boolean;
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
  pipeline(): unknown;
  on(event: 'error' | 'ready' | 'message', listener: (first: unknown) => void): unknown;
  subscribe(...channels: string[]): Promise<unknown>;
  unsubscribe(...channels: string[]): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
}

interface Duplicable extends IoredisClient {
  duplicate(options: object): IoredisClient;
}

export function isIoredisClient(client: object): client is IoredisClient {
  return 'eval' in client && 'pipeline' in client && 'status' in client && 'isCluster' in client;
}

/** These clients connect by themselves, and keep commands until they are connected. */
export function overIoredis(client: IoredisClient): RedisConnection {
  const evaluate: RedisConnection['evaluate'] = (script, key, args) => client.eval(script, 1, key, ...args);
  // These clients open by themselves, and one that was closed stays so.
  const open = (): Promise<void> => Promise.resolve();
  const reopen = (): void => {
    client.disconnect(true);
  };
  // A cluster subscribes on a connection of its own, and WAIT has no key that would lead it to the right node.
  if (client.isCluster)
    return { open, evaluate, reopen, subscriber: onMessage => new ClusterSubscriber(client, onMessage) };
  return {
    open,
    evaluate,
    reopen,
    async evaluateAndWait(script, key, args, replicas, ms) {
      // A pipeline that breaks off half-way is not taken up again on the next connection, where WAIT would mean nothing.
      const pipeline = client.pipeline() as IoredisPipeline;
      const answers =
        (await pipeline
          .eval(script, 1, key, ...args)
          .wait(replicas, ms)
          .exec()) ?? [];
      for (const [error] of answers) if (error) throw error;
      return [answers[0]?.[1], answers[1]?.[1]];
    },
    subscriber: onMessage => new DuplicateSubscriber(client as Duplicable, onMessage),
  };
}

class ClusterSubscriber implements RedisSubscriber {
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

class DuplicateSubscriber implements RedisSubscriber {
  private readonly channels = new Set<string>();
  private readonly client: IoredisClient;
  private hasClosed = false;

  constructor(client: Duplicable, onMessage: (channel: string) => void) {
    // Subscribing again after a reconnection is ours to do: the client's own leaves a rejection unhandled when it fails.
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
    // A client that was told to disconnect calls itself ready until it has.
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
