import type { RedisConnection, RedisSubscriber } from './redis-connection';

/** Milliseconds without an answer after which another node of a cluster is asked where the key is. */
const SILENCE = 500;

type Listener = (message: unknown, channel: unknown) => void;

/** Commands that are sent together, over one connection. */
interface NodeRedisPipeline {
  eval(script: string, options: { keys: string[]; arguments: string[] }): NodeRedisPipeline;
  wait(replicas: number, ms: number): NodeRedisPipeline;
  execAsPipeline(): Promise<unknown>;
}

/** What we use of a node-redis client (@redis/client 5): single node, Sentinel or Cluster. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  destroy(): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  multi(): unknown;
  subscribe(channel: string, listener: Listener): Promise<unknown>;
  unsubscribe(channel: string, listener: Listener): Promise<unknown>;
  duplicate?(): NodeRedisClient;
}

interface NodeRedisCluster extends NodeRedisClient {
  readonly slots: readonly unknown[];
  /** Without a key, the command goes to one node after the other. */
  sendCommand(key: undefined, isReadonly: boolean, command: string[]): Promise<unknown>;
}

export function isNodeRedisClient(client: object): client is NodeRedisClient {
  return 'eval' in client && 'connect' in client && 'isOpen' in client;
}

export function overNodeRedis(client: NodeRedisClient): RedisConnection {
  return isCluster(client) ? new OverCluster(client) : new OverMaster(client);
}

function isCluster(client: NodeRedisClient): client is NodeRedisCluster {
  return 'slots' in client;
}

class OverNodeRedis<Client extends NodeRedisClient> {
  private opening: Promise<void> | undefined;

  constructor(protected readonly client: Client) {}

  async evaluate(script: string, key: string, args: readonly string[]): Promise<unknown> {
    await this.open();
    return this.client.eval(script, { keys: [key], arguments: [...args] });
  }

  /** A cluster that is connecting refuses commands, so all that find it closed wait for the one that connects it. */
  protected open(): Promise<void> | undefined {
    if (!this.client.isOpen) this.opening ??= this.connect().finally(() => { this.opening = undefined; });
    return this.opening;
  }

  private async connect(): Promise<void> {
    try {
      await this.client.connect();
    } catch (error) {
      // A Sentinel client that could not connect calls itself open, and would never connect again.
      if (this.client.isOpen) await this.client.destroy();
      throw error;
    }
  }
}

/** A single node, or whichever is the master under Sentinel. */
class OverMaster extends OverNodeRedis<NodeRedisClient> implements RedisConnection {
  async evaluateAndWait(script: string, key: string, args: readonly string[], replicas: number, ms: number): Promise<[unknown, number]> {
    await this.open();
    const pipeline = this.client.multi() as NodeRedisPipeline;
    return await pipeline.eval(script, { keys: [key], arguments: [...args] }).wait(replicas, ms).execAsPipeline() as [unknown, number];
  }

  subscriber(onMessage: (channel: string) => void): RedisSubscriber {
    if ('getSentinelNode' in this.client) return subscriptionsOf(this.client, onMessage);
    if (!this.client.duplicate) throw new Error('bindonce: this Redis client cannot be duplicated');
    return new DuplicateSubscriber(this.client.duplicate(), onMessage);
  }
}

class OverCluster extends OverNodeRedis<NodeRedisCluster> implements RedisConnection {
  private lastLook = -SILENCE;

  override async evaluate(script: string, key: string, args: readonly string[]): Promise<unknown> {
    const timer = setInterval(() => { this.lookFor(key); }, SILENCE).unref();
    try {
      return await super.evaluate(script, key, args);
    } finally {
      clearInterval(timer);
    }
  }

  subscriber(onMessage: (channel: string) => void): RedisSubscriber {
    return subscriptionsOf(this.client, onMessage);
  }

  /**
   * This client learns that a slot has another master only from a node that refuses a command. While it waits for a dead one, no
   * node refuses anything, so we ask one that will.
   */
  private lookFor(key: string): void {
    const now = performance.now();
    if (now - this.lastLook < SILENCE) return;
    this.lastLook = now;
    this.client.sendCommand(undefined, true, ['EXISTS', key]).catch(() => undefined);
  }
}

/** Sentinel and Cluster clients subscribe on a connection of their own, which moves with the master and closes with the last subscription. */
function subscriptionsOf(client: NodeRedisClient, onMessage: (channel: string) => void): RedisSubscriber {
  const listener: Listener = (_message, channel) => { onMessage(String(channel)); };
  return {
    get isOpen() { return client.isOpen; },
    subscribe: channel => client.subscribe(channel, listener),
    unsubscribe: channel => client.unsubscribe(channel, listener),
  };
}

class DuplicateSubscriber implements RedisSubscriber {
  private readonly channels = new Set<string>();
  private readonly ready: Promise<unknown>;
  private readonly listener: Listener = (_message, channel) => { this.onMessage(String(channel)); };

  constructor(private readonly client: NodeRedisClient, private readonly onMessage: (channel: string) => void) {
    // Without a listener an 'error' event ends the process. Nothing is lost by ignoring it: waiters ask again by themselves.
    client.on('error', () => undefined);
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
