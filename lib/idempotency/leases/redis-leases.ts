import { aCount, checkOptions, milliseconds, type Rule } from '../../options/check';
import type { Acquisition, LeaseStore } from './lease-store';
import { acquisitionIn, isYes, wholeNumberIn } from './redis-answers';
import type { RedisConnection } from './redis-connection';
import type { NodeRedisClient } from './redis-node-redis-subscriber';
import { isIoredisClient, overIoredis, type IoredisClient } from './redis-over-ioredis';
import { isNodeRedisClient, overNodeRedis } from './redis-over-node-redis';
import { scripts } from './redis-scripts';
import { RedisWakeUps } from './redis-wake-ups';

/** A client of node-redis 5 (`@keyv/redis`), or of ioredis or iovalkey (`@keyv/valkey`): single node, Sentinel or Cluster. */
export type RedisClient = NodeRedisClient | IoredisClient;

/** What can be chosen about leases on Redis. */
export interface RedisLeasesOptions {
  /** Goes before each key, so that applications that share a Redis do not meet. Default `'bindonce:lease:'`. */
  readonly prefix?: string;
  /**
   * Replicas that must have a lease, and the record of its end, before it counts (WAIT). A lease that is not on so many is refused,
   * and a response not stored. Not on a Cluster. Default none.
   */
  readonly replicas?: number;
  /** How long to wait for the replicas each time, in milliseconds; less than `storeTimeout`. Default 500. */
  readonly replicaTimeout?: number;
}

const rules: Readonly<Record<keyof RedisLeasesOptions, Rule>> = {
  prefix: { expects: 'a string', accepts: value => typeof value === 'string' },
  replicas: aCount,
  replicaTimeout: milliseconds,
};

/**
 * Leases on Redis, Valkey or a server that speaks their protocol and runs their scripts: one holder for each key among all
 * processes that use the same server.
 * @param client is connected when it is not.
 * @throws TypeError for an unknown option, a value that is none, or `replicas` on a Cluster.
 */
export function redisLeases(client: RedisClient, options: RedisLeasesOptions = {}): LeaseStore {
  checkOptions('redisLeases', options, rules);
  const connection = connectionOver(client);
  if (!connection) throw new TypeError('redisLeases: client must be a client of node-redis, ioredis or iovalkey');
  const { prefix = 'bindonce:lease:', replicas = 0, replicaTimeout = 500 } = options;
  if (replicas > 0 && !connection.evaluateAndWait) throw new TypeError('redisLeases: replicas cannot be waited for on a Cluster');
  return new RedisLeases(connection, prefix, replicas, replicaTimeout);
}

/** Beside a Keyv on `@keyv/redis` or `@keyv/valkey`, over the connection that its adapter holds. */
export function redisLeasesBeside(adapter: object, namespace: string | undefined): LeaseStore | undefined {
  const { client, redis = client } = adapter as { client?: unknown; redis?: unknown };
  if (typeof redis !== 'object' || redis === null || !connectionOver(redis)) return undefined;
  return redisLeases(redis as RedisClient, namespace === undefined ? {} : { prefix: `${namespace}:bindonce:lease:` });
}

function connectionOver(client: unknown): RedisConnection | undefined {
  if (typeof client !== 'object' || client === null) return undefined;
  if (isNodeRedisClient(client)) return overNodeRedis(client);
  return isIoredisClient(client) ? overIoredis(client) : undefined;
}

class RedisLeases implements LeaseStore {
  private readonly wakeUps: RedisWakeUps;

  constructor(private readonly connection: RedisConnection, private readonly prefix: string, private readonly replicas: number, private readonly replicaTimeout: number) {
    this.wakeUps = new RedisWakeUps(connection);
  }

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    return this.runOnReplicas('acquire', key, [token, String(ms)], acquisitionIn, ({ kind }) => kind === 'acquired');
  }

  async renew(key: string, token: string, ms: number): Promise<boolean> {
    return isYes(await this.run('renew', key, [token, String(ms)]));
  }

  async complete(key: string, token: string, ms: number): Promise<boolean> {
    return this.runOnReplicas('complete', key, [token, this.prefix + key, String(ms)], isYes, isDone => isDone);
  }

  async release(key: string, token: string): Promise<boolean> {
    return isYes(await this.run('release', key, [token, this.prefix + key]));
  }

  watch(key: string, onChange: () => void): Promise<() => void> {
    return this.wakeUps.watch(this.prefix + key, onChange);
  }

  private run(step: keyof typeof scripts, key: string, args: readonly string[]): Promise<unknown> {
    return this.connection.evaluate(scripts[step], this.prefix + key, args);
  }

  /**
   * @param read reads the answer.
   * @param counts whether an answer promises something, which replicas must have too.
   * @throws Error when too few have it; the step may be repeated.
   */
  private async runOnReplicas<T>(
    step: keyof typeof scripts, key: string, args: readonly string[], read: (answer: unknown) => T, counts: (answer: T) => boolean,
  ): Promise<T> {
    const { connection, replicas, replicaTimeout } = this;
    if (replicas === 0 || !connection.evaluateAndWait) return read(await this.run(step, key, args));
    const script = scripts[step];
    const [raw, count] = await connection.evaluateAndWait(script, this.prefix + key, args, replicas, replicaTimeout);
    const [answer, reached] = [read(raw), wholeNumberIn(count)];
    if (counts(answer) && reached < replicas) throw new Error(`${reached} Redis replicas have the lease, and ${replicas} must`);
    return answer;
  }
}
