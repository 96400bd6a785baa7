import { outsideRequests } from '../../basics/outside-requests';
import type { Keys, RedisSubscriber } from './connection';
import type { NodeRedisClient } from './node-redis-client';
import { listenerOf } from './node-redis-subscriber';

/** What every client of node-redis has besides. (Not asked of the clients that users pass: their types may differ.) */
interface Closable {
  connect(): Promise<unknown>;
  close(): unknown;
  destroy(): unknown;
  quit?(): unknown;
  disconnect?(): unknown;
}

/** Runs scripts over a client of node-redis, and opens the client when it has to. */
export abstract class OverNodeRedis<Client extends NodeRedisClient> {
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
    const channels = new Set<string>();
    return {
      isOpen: true,
      subscribe: async channel => {
        channels.add(channel);
        await this.opened();
        await this.client.subscribe(channel, listener);
        // It may have been left meanwhile. The client may have unsubscribed before it subscribed.
        if (!channels.has(channel)) await this.client.unsubscribe(channel, listener);
      },
      unsubscribe: async channel => {
        channels.delete(channel);
        await this.client.unsubscribe(channel, listener);
      },
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
      await outsideRequests(() => this.own.connect());
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

export const isSentinel = (client: NodeRedisClient): boolean => 'getSentinelNode' in client;
