import { outsideRequests } from '../../basics/outside-requests';
import type { Keys, RedisConnection, RedisSubscriber } from './connection';
import type { IoredisClient } from './ioredis-client';
import { IoredisClusterSubscriber, IoredisSubscriber, type DuplicableIoredis } from './ioredis-subscriber';

/** Commands that are sent together, over one connection. */
interface IoredisPipeline {
  eval(script: string, keys: number, ...keysAndArguments: string[]): IoredisPipeline;
  wait(replicas: number, ms: number): IoredisPipeline;
  exec(): Promise<readonly (readonly [error: Error | null, answer: unknown])[] | null>;
}

/** What ioredis has besides. (Not asked of the clients that users pass: older types of them may differ.) */
interface Closable {
  connect(): Promise<unknown>;
  quit(...args: unknown[]): unknown;
  disconnect(...args: unknown[]): unknown;
}

export function isIoredisClient(client: object): client is IoredisClient {
  return 'eval' in client && 'pipeline' in client && 'status' in client && 'isCluster' in client;
}

/** Makes the connection over a client, which connects by itself and keeps commands until it is connected. */
export function overIoredis(client: IoredisClient): RedisConnection {
  return client.isCluster ? new OverIoredisCluster(client) : new OverIoredisMaster(client);
}

abstract class OverIoredis {
  private wasClosed = false;

  constructor(protected readonly client: IoredisClient) {
    onClosing(client, () => {
      this.wasClosed = true;
    });
    client.on('connect', () => {
      this.wasClosed = false;
    });
  }

  get isClosed(): boolean {
    return this.wasClosed && this.client.status === 'end';
  }

  evaluate(script: string, keys: Keys, args: readonly string[]): Promise<unknown> {
    this.openIfGivenUp();
    return this.client.eval(script, keys.length, ...keys, ...args);
  }

  reopen(): void {
    // A client that asks sentinels for the master would give up.
    if (['connect', 'ready'].includes(this.client.status)) this.client.disconnect(true);
  }

  /**
   * Connects a client that has given up: when its `retryStrategy` returns no number, it does nothing more by itself.
   * One that the application has closed stays closed.
   */
  protected openIfGivenUp(): void {
    if (this.client.status !== 'end' || this.wasClosed) return;
    // The commands report the error.
    outsideRequests(() => (this.client as unknown as Closable).connect()).catch(() => undefined);
  }
}

/**
 * Calls `closing` when the application closes the client. The client itself does not remember it: when `end` is
 * emitted, it has forgotten whether it was closed or gave up (`manuallyClosing`).
 */
function onClosing(client: IoredisClient, closing: () => void): void {
  const closable = client as unknown as Closable;
  const quit = closable.quit.bind(client);
  const disconnect = closable.disconnect.bind(client);
  closable.quit = (...args) => {
    closing();
    return quit(...args);
  };
  closable.disconnect = (...args) => {
    const [reconnects = false] = args;
    if (!reconnects) closing();
    return disconnect(...args);
  };
}

/** A single node, or the current master under Sentinel. */
class OverIoredisMaster extends OverIoredis implements RedisConnection {
  readonly keepsDeadConnection = true;

  async evaluateAndWait(
    script: string,
    keys: Keys,
    args: readonly string[],
    replicas: number,
    ms: number,
  ): Promise<[unknown, unknown]> {
    this.openIfGivenUp();
    // A pipeline that breaks half-way is not continued on the next connection, where WAIT would mean nothing.
    const pipeline = this.client.pipeline() as IoredisPipeline;
    const answers =
      (await pipeline
        .eval(script, keys.length, ...keys, ...args)
        .wait(replicas, ms)
        .exec()) ?? [];
    for (const [error] of answers) if (error) throw error;
    return [answers[0]?.[1], answers[1]?.[1]];
  }

  subscriber(onMessage: (channel: string) => void): RedisSubscriber {
    return new IoredisSubscriber(this.client as DuplicableIoredis, onMessage);
  }
}

/** It subscribes on a connection of its own, and WAIT has no key, so it would not reach the right node. */
class OverIoredisCluster extends OverIoredis implements RedisConnection {
  /** The answers of other nodes say nothing about one. */
  readonly keepsDeadConnection = false;

  subscriber(onMessage: (channel: string) => void): RedisSubscriber {
    return new IoredisClusterSubscriber(this.client, onMessage);
  }
}
