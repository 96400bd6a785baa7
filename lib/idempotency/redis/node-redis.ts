import type { Keys, RedisConnection, RedisSubscriber } from './connection';
import { keepInStep } from './in-step';
import type { NodeRedisClient } from './node-redis-client';
import { isCluster, OverNodeRedisCluster } from './node-redis-cluster';
import { NodeRedisSubscriber } from './node-redis-subscriber';
import { isSentinel, OverNodeRedis } from './over-node-redis';

/** Milliseconds that a server may take to answer the handshake of a new connection. */
const HANDSHAKE = 5_000;

/** Commands that are sent together, over one connection. */
interface NodeRedisPipeline {
  eval(script: string, options: { keys: string[]; arguments: string[] }): NodeRedisPipeline;
  wait(replicas: number, ms: number): NodeRedisPipeline;
  execAsPipeline(): Promise<unknown>;
}

export function isNodeRedisClient(client: object): client is NodeRedisClient {
  return 'eval' in client && 'connect' in client && 'isOpen' in client;
}

export function overNodeRedis(client: NodeRedisClient): RedisConnection {
  return isCluster(client) ? new OverNodeRedisCluster(client) : new OverNodeRedisMaster(client);
}

/** A single node, or the current master under Sentinel. */
class OverNodeRedisMaster extends OverNodeRedis<NodeRedisClient> implements RedisConnection {
  /** A Sentinel client replaces it itself, but not while it connects, and would wait for a server that is silent. */
  readonly keepsDeadConnection = !isSentinel(this.client);

  constructor(client: NodeRedisClient) {
    super(client);
    keepInStep(client);
    if (!isSentinel(client)) this.limitHandshake();
  }

  async evaluateAndWait(
    script: string,
    keys: Keys,
    args: readonly string[],
    replicas: number,
    ms: number,
  ): Promise<[unknown, unknown]> {
    await this.opened();
    const pipeline = this.client.multi() as NodeRedisPipeline;
    return (await pipeline
      .eval(script, { keys: [...keys], arguments: [...args] })
      .wait(replicas, ms)
      .execAsPipeline()) as [unknown, unknown];
  }

  subscriber(onMessage: (channel: string) => void): RedisSubscriber {
    if (isSentinel(this.client)) return this.subscriptions(onMessage);
    if (!this.client.duplicate) throw new Error('bindonce: this Redis client cannot be duplicated');
    return new NodeRedisSubscriber(this.client.duplicate(), onMessage);
  }

  /**
   * Ends an attempt of ours to connect if the server does not answer its handshake, for which node-redis has no time
   * limit. (When node-redis reconnects by itself, nothing tells when its attempt has ended, and ours could begin.)
   */
  private limitHandshake(): void {
    let limit: NodeJS.Timeout | undefined;
    this.client.on('connect', () => {
      clearTimeout(limit);
      limit = setTimeout(() => {
        if (this.opening && this.client.isOpen) void this.own.destroy();
      }, HANDSHAKE).unref();
    });
    for (const event of ['ready', 'reconnecting', 'end'] as const)
      this.client.on(event, () => {
        clearTimeout(limit);
      });
  }
}
