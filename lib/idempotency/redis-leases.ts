import type { Acquisition, LeaseStore } from './lease-store';
import { scripts } from './lease-scripts';

/** What we use of a node-redis client (@redis/client 5): single node, Sentinel or Cluster. */
export interface RedisClient {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  duplicate?(): RedisSubscriber;
}

/** A connection in subscriber mode, which can do nothing else. */
export interface RedisSubscriber {
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  subscribe(channel: string, listener: () => void): Promise<unknown>;
  unsubscribe(channel: string, listener: () => void): Promise<unknown>;
}

/** What can be chosen about leases on Redis. */
export interface RedisLeasesOptions {
  /** Goes before each key, so that applications that share a Redis do not meet. Default `'bindonce:lease:'`. */
  readonly prefix?: string;
}

/**
 * Leases on Redis or a server that speaks its protocol and runs its scripts: one holder for each key among all processes
 * that use the same server.
 * @param client a node-redis client; it is connected when it is not.
 */
export function redisLeases(client: RedisClient, options: RedisLeasesOptions = {}): LeaseStore {
  return new RedisLeases(client, options.prefix ?? 'bindonce:lease:');
}

class RedisLeases implements LeaseStore {
  private readonly wakeUps: WakeUps;

  constructor(private readonly client: RedisClient, private readonly prefix: string) {
    this.wakeUps = new WakeUps(client);
  }

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    const [kind, holder, msLeft] = await this.run('acquire', key, token, ms) as [Acquisition['kind'], string, number];
    switch (kind) {
      case 'acquired': return { kind };
      case 'done': return { kind, token: holder };
      case 'running': return { kind, token: holder, msLeft: Math.max(0, msLeft) };
    }
  }

  async renew(key: string, token: string, ms: number): Promise<boolean> {
    return await this.run('renew', key, token, ms) === 1;
  }

  async complete(key: string, token: string, ms: number): Promise<boolean> {
    return await this.run('complete', key, token, ms) === 1;
  }

  async release(key: string, token: string): Promise<boolean> {
    return await this.run('release', key, token) === 1;
  }

  watch(key: string, onChange: () => void): Promise<() => void> {
    return this.wakeUps.watch(this.prefix + key, onChange);
  }

  private async run(step: keyof typeof scripts, key: string, token: string, ms?: number): Promise<unknown> {
    if (!this.client.isOpen) await this.connect();
    return this.client.eval(scripts[step], { keys: [this.prefix + key], arguments: ms === undefined ? [token] : [token, String(ms)] });
  }

  /** Several requests can find the client closed at once; the second `connect` throws "Socket already opened". */
  private async connect(): Promise<void> {
    try {
      await this.client.connect();
    } catch (error) {
      if (!this.client.isOpen) throw error;
    }
  }
}

/** The subscriptions of all waiters of this process, on one extra connection. */
class WakeUps {
  private subscriber: { readonly client: RedisSubscriber; readonly ready: Promise<unknown> } | undefined;
  private watching = 0;

  constructor(private readonly client: RedisClient) {}

  async watch(channel: string, onChange: () => void): Promise<() => void> {
    this.watching++;
    try {
      const { client, ready } = this.subscriber ??= this.open();
      await ready;
      await client.subscribe(channel, onChange);
      return () => {
        void client.unsubscribe(channel, onChange).catch(() => undefined).then(() => { this.leave(); });
      };
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  private open(): NonNullable<WakeUps['subscriber']> {
    if (!this.client.duplicate) throw new Error('bindonce: this Redis client cannot be duplicated');
    const client = this.client.duplicate();
    // Without a listener an 'error' event ends the process. Nothing is lost by ignoring it: waiters ask again by themselves.
    client.on('error', () => undefined);
    return { client, ready: client.connect() };
  }

  /** The connection is open only while somebody waits, so that it never keeps a process from ending. */
  private leave(): void {
    if (--this.watching > 0) return;
    const { subscriber } = this;
    this.subscriber = undefined;
    try {
      subscriber?.client.destroy();
    } catch { /* it was closed already */ }
  }
}
