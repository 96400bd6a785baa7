import { outsideRequests } from '../../basics/outside-requests';
import type { Keys, RedisConnection, RedisSubscriber } from './connection';
import type { NodeRedisClient } from './node-redis-client';
import { OverNodeRedis } from './over-node-redis';

/** Milliseconds without an answer after which another node of a cluster is asked for the key's node. */
const SILENCE = 500;

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

export function isCluster(client: NodeRedisClient): client is NodeRedisCluster {
  return 'slots' in client;
}

export class OverNodeRedisCluster extends OverNodeRedis<NodeRedisCluster> implements RedisConnection {
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
      if (client?.isOpen === false) outsideRequests(() => client.connect()).catch(() => undefined);
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
