import type { Keys, RedisConnection, RedisSubscriber } from './connection';
import { keepInStep } from './in-step';
import type { NodeRedisClient } from './node-redis-client';
import { listenerOf, NodeRedisSubscriber } from './node-redis-subscriber';

/** Milliseconds without an answer after which another node of a cluster is asked for the key's node. */
const SILENCE = 500;

/** Milliseconds that a server may take to answer the handshake of a new connection. */
const HANDSHAKE = 5_000;

/** Commands that are sent together, over one connection. */
interface NodeRedisPipeline {
  eval(script: string, options: { keys: string[]; arguments: string[] }): NodeRedisPipeline;
  wait(replicas: number, ms: number): NodeRedisPipeline;
  execAsPipeline(): Promise<unknown>;
}

interface ClusterNode {
  /** Missing until the node is used (`minimizeConnections`). */
  readonly client?: Pick<NodeRedisClient, 'isOpen' | 'connect'>;
}

interface NodeRedisCluster extends NodeRedisClient {
  readonly slots: readonly unknown[];
  readonly masters: readonly ClusterNode[];
  readonly replicas: readonly ClusterNode[];
  /** Sends a command: without a key, to one node after the other. */
  sendCommand(key: undefined, isReadonly: boolean, command: string[]): Promise<unknown>;
}

export function isNodeRedisClient(client: object): client is NodeRedisClient {
  return 'eval' in client && 'connect' in client && 'isOpen' in client;
}

export function overNodeRedis(client: NodeRedisClient): RedisConnection {
  return isCluster(client) ? new OverNodeRedisCluster(client) : new OverNodeRedisMaster(client);
}

function isCluster(client: NodeRedisClient): client is NodeRedisCluster {
  return 'slots' in client;
}

/** What every client of node-redis has besides. (Not asked of the clients that users pass: their types may differ.) */
interface Closable {
  connect(): Promise<unknown>;
  close(): unknown;
  destroy(): unknown;
  quit?(): unknown;
  disconnect?(): unknown;
}

abstract class OverNodeRedis<Client extends NodeRedisClient> {
  protected opening: Promise<void> | undefined;
  /** True while the client is closed by the application: one that has given up by itself is opened again. */
  private wasClosed = false;
  /** The client's own methods: what bindonce closes, the application has not closed. */
  protected readonly own: { connect(): Promise<unknown>; destroy(): unknown };

  constructor(protected readonly client: Client) {
    this.own = { connect: client.connect.bind(client), destroy: client.destroy.bind(client) };
    onCalls(client, ['close', 'destroy', 'quit', 'disconnect'], () => {
      this.wasClosed = true;
    });
    onCalls(client, ['connect'], () => {
      this.wasClosed = false;
    });
  }

  get isClosed(): boolean {
    return this.wasClosed && !this.client.isOpen;
  }

  open(): void {
    // A client that is closing is ready until its last command is answered, and would get two connections.
    if (!this.client.isOpen && !this.client.isReady) this.wasClosed = false;
  }

  async evaluate(script: string, keys: Keys, args: readonly string[]): Promise<unknown> {
    const opening = this.opened();
    if (opening) await opening;
    return this.client.eval(script, { keys: [...keys], arguments: [...args] });
  }

  reopen(): void {
    // A client that is connecting would get two connections, and count the answers of both. One that is closing waits
    // for the answers to its commands, which a new connection would not bring.
    if (!this.client.isOpen || this.client.isReady === false || this.opening) return;
    this.opening = this.openAnew().finally(() => {
      this.opening = undefined;
    });
    // The next command reports the error.
    this.opening.catch(() => undefined);
  }

  /**
   * Waits until the client is open. A cluster that is connecting refuses commands, so all callers that find it closed
   * wait for one connection attempt.
   * @returns a promise only if the client is not open.
   */
  protected opened(): Promise<void> | undefined {
    if (this.opening) return this.opening;
    if (this.client.isOpen) return undefined;
    if (this.isClosed) return Promise.reject(new Error('The client is closed. The next request opens it.'));
    this.opening = this.connect().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  /**
   * Subscribes on a Sentinel or Cluster client, which uses a connection of its own: it moves with the master and closes
   * with the last subscription.
   */
  protected subscriptions(onMessage: (channel: string) => void): RedisSubscriber {
    const listener = listenerOf(onMessage);
    return {
      isOpen: true,
      subscribe: async channel => {
        await this.opened();
        await this.client.subscribe(channel, listener);
      },
      unsubscribe: channel => this.client.unsubscribe(channel, listener),
    };
  }

  private async openAnew(): Promise<void> {
    await this.own.destroy();
    await this.connect();
  }

  private async connect(): Promise<void> {
    try {
      // A Sentinel client that was closed, but not destroyed, would connect to nothing.
      if (isSentinel(this.client)) await this.own.destroy();
      await this.own.connect();
      // A client that is closed while it connects does not report an error.
      if (!this.client.isOpen) throw new Error('The client was closed before it was connected');
    } catch (error) {
      // A Sentinel client that could not connect has isOpen true, and would never connect again.
      if (this.client.isOpen) await this.own.destroy();
      throw error;
    }
  }
}

/** Calls `called` when one of the methods is called on the client, or on one that it was derived from (`_self`). */
function onCalls(client: object, names: readonly (keyof Closable)[], called: () => void): void {
  const { _self: closable = client as Closable } = client as { _self?: Closable };
  for (const name of names) {
    const given = closable[name]?.bind(closable) as (() => Promise<unknown>) | undefined;
    if (!given) continue;
    closable[name] = () => {
      called();
      return given();
    };
  }
}

const isSentinel = (client: NodeRedisClient): boolean => 'getSentinelNode' in client;

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

  subscriber(onMessage: (channel: string) => void): RedisSubscriber {
    if (isSentinel(this.client)) return this.subscriptions(onMessage);
    if (!this.client.duplicate) throw new Error('bindonce: this Redis client cannot be duplicated');
    return new NodeRedisSubscriber(this.client.duplicate(), onMessage);
  }
}

class OverNodeRedisCluster extends OverNodeRedis<NodeRedisCluster> implements RedisConnection {
  /** The answers of other nodes say nothing about one. */
  readonly keepsDeadConnection = false;
  private lastLook = -SILENCE;

  override async evaluate(script: string, keys: Keys, args: readonly string[]): Promise<unknown> {
    this.openNodes();
    const timer = setInterval(() => {
      this.lookFor(keys[0]);
    }, SILENCE).unref();
    try {
      return await super.evaluate(script, keys, args);
    } finally {
      clearInterval(timer);
    }
  }

  subscriber(onMessage: (channel: string) => void): RedisSubscriber {
    return this.subscriptions(onMessage);
  }

  /**
   * Connects nodes whose clients have given up: the Cluster client stays open, and never does. All of them, because the
   * response of a request may belong on another node than its lease.
   */
  private openNodes(): void {
    if (!this.client.isOpen) return;
    for (const { client } of [...this.client.masters, ...this.client.replicas])
      // The commands report the error.
      if (client?.isOpen === false) client.connect().catch(() => undefined);
  }

  /**
   * Asks a node that will refuse the command: only so does this client learn that a slot has another master. While it
   * waits for a dead master, no node refuses anything.
   */
  private lookFor(key: string): void {
    const now = performance.now();
    if (now - this.lastLook < SILENCE) return;
    this.lastLook = now;
    this.client.sendCommand(undefined, true, ['EXISTS', key]).catch(() => undefined);
  }
}
