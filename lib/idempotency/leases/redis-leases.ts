import type { Acquisition, LeaseStore } from './lease-store';
import { scripts } from './redis-scripts';
import { RedisWakeUps, type RedisSubscriber } from './redis-wake-ups';

/** What we use of a node-redis client (@redis/client 5): single node, Sentinel or Cluster. */
export interface RedisClient {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  duplicate?(): RedisSubscriber;
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

/** Beside a Keyv on `@keyv/redis`, over the connection that its adapter holds. */
export function redisLeasesBeside(adapter: object, namespace: string | undefined): LeaseStore | undefined {
  const { client } = adapter as { client?: unknown };
  return isRedisClient(client) ? redisLeases(client, namespace === undefined ? {} : { prefix: `${namespace}:bindonce:lease:` }) : undefined;
}

function isRedisClient(client: unknown): client is RedisClient {
  return typeof client === 'object' && client !== null && 'eval' in client && 'connect' in client && 'isOpen' in client;
}

class RedisLeases implements LeaseStore {
  private readonly wakeUps: RedisWakeUps;

  constructor(private readonly client: RedisClient, private readonly prefix: string) {
    this.wakeUps = new RedisWakeUps(client);
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
