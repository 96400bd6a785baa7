import { checkOptions, milliseconds, positiveInteger, text, type Rule } from '../../options/check';
import { CLOSED, OPEN, type ClosableLeases } from '../leases/closable-leases';
import type { JointLeases } from '../leases/joint-leases';
import type { Acquisition, LeaseStore } from '../leases/lease-store';
import { prefixFor } from '../stores/keyv-like';
import { acquisitionIn, isYes } from './answers';
import { dialogueUnder, dialogueWith, type RedisDialogue } from './dialogue';
import type { NodeRedisClient } from './node-redis-client';
import type { IoredisClient } from './ioredis-client';
import { notAClient } from './not-a-client';
import { scripts } from './scripts';
import { RedisNotifications } from './notifications';

/**
 * A client of node-redis 5 or 6 (`@keyv/redis` 5 or 6), or of ioredis or iovalkey (`@keyv/valkey`): single node,
 * Sentinel or Cluster.
 */
export type RedisClient = NodeRedisClient | IoredisClient;

/** Options of {@link redisLeases}. */
export interface RedisLeasesOptions {
  /**
   * Prefix of each key: applications that share a Redis need different ones. The leases that a Keyv with the namespace
   * `shop` has without `leases` are under `'shop:bindonce:1::lease:'`. Default that of a Keyv without a namespace,
   * `'keyv:bindonce:1::lease:'`.
   */
  readonly prefix?: string;
  /**
   * Replicas that must have a lease, and the record of its end, before it counts (WAIT). With fewer, a request is
   * refused, and a response is not stored. Not on a Cluster. Default none.
   */
  readonly replicas?: number;
  /** How long to wait for the replicas each time, in milliseconds; less than `storeTimeout`. Default 500. */
  readonly replicaTimeout?: number;
}

const rules: Readonly<Record<keyof RedisLeasesOptions, Rule>> = {
  prefix: text,
  replicas: positiveInteger,
  replicaTimeout: milliseconds,
};

/**
 * Makes leases on Redis, Valkey or a server that speaks their protocol and runs their scripts: one holder for each key
 * among all processes that use the same server.
 * @param client connected by bindonce if it is not.
 * @throws TypeError for a value that is not a client, an unknown option, an invalid value, or `replicas` on a Cluster.
 */
export function redisLeases(client: RedisClient, options: RedisLeasesOptions = {}): LeaseStore {
  checkOptions('redisLeases', options, rules);
  const dialogue = dialogueWith(client);
  if (!dialogue) throw notAClient(client);
  const { prefix = prefixFor('lease'), replicas = 0, replicaTimeout = 500 } = options;
  if (replicas > 0 && !dialogue.canWaitForReplicas)
    throw new TypeError(
      'redisLeases: `replicas` is not supported on a Cluster. Leave it out, or use a single address or Sentinel.',
    );
  return new RedisLeases(dialogue, prefix, replicas, replicaTimeout);
}

/**
 * Makes leases for a Keyv on `@keyv/redis` or `@keyv/valkey`, over its adapter's connection.
 * @returns undefined for other adapters.
 */
export function redisLeasesFor(adapter: object, namespace: string | undefined): LeaseStore | undefined {
  const dialogue = dialogueUnder(adapter);
  if (!dialogue) return undefined;
  const prefix = prefixFor('lease', namespace);
  // A script on a Cluster must not use the keys of two slots.
  return dialogue.canWaitForReplicas ? new JointRedisLeases(dialogue, prefix) : new RedisLeases(dialogue, prefix);
}

class RedisLeases implements ClosableLeases {
  private readonly notifications: RedisNotifications;

  constructor(
    private readonly dialogue: RedisDialogue,
    protected readonly prefix: string,
    private readonly replicas = 0,
    private readonly replicaTimeout = 0,
  ) {
    this.notifications = new RedisNotifications(dialogue);
  }

  get [CLOSED](): boolean {
    return this.dialogue.isClosed;
  }

  [OPEN](): void {
    this.dialogue.open();
  }

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    // For leases that an application has wrapped: then no one else does it.
    if (!this.dialogue.isClosed) this.dialogue.open();
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
    return this.notifications.watch(this.prefix + key, onChange);
  }

  protected run(step: keyof typeof scripts, key: string, args: readonly string[], ...more: string[]): Promise<string> {
    return this.dialogue.ask(scripts[step], [this.prefix + key, ...more], args);
  }

  /**
   * Runs a step, and makes sure that enough replicas have its result.
   * @param read reads the answer.
   * @param counts whether an answer promises something that replicas must have, too.
   * @throws Error when too few replicas have it; the step may be repeated.
   */
  private async runOnReplicas<T>(
    step: keyof typeof scripts,
    key: string,
    args: readonly string[],
    read: (answer: string) => T,
    counts: (answer: T) => boolean,
  ): Promise<T> {
    const { dialogue, replicas, replicaTimeout } = this;
    if (replicas === 0) return read(await this.run(step, key, args));
    const [text, reached] = await dialogue.askReplicas(
      scripts[step],
      [this.prefix + key],
      args,
      replicas,
      replicaTimeout,
    );
    const answer = read(text);
    if (counts(answer) && reached < replicas)
      throw new Error(
        `Only ${reached} of ${replicas} Redis replicas confirmed the lease within ${replicaTimeout} ms ` +
          '(replicaTimeout). Check the replication, or lower `replicas`.',
      );
    return answer;
  }
}

/** Times in a row that a response was not there, after which it is not looked for any more. */
const MOST_MISSES = 3;

/** Leases on the connection over which a Keyv stores the responses. */
class JointRedisLeases extends RedisLeases implements JointLeases {
  private misses = 0;

  async completeIfStored(key: string, token: string, ms: number, responseKey: string): Promise<boolean | undefined> {
    if (this.misses === MOST_MISSES) return undefined;
    try {
      const answer = await this.run('completeIfStored', key, [token, this.prefix + key, String(ms)], responseKey);
      this.misses = answer === 'missing' ? this.misses + 1 : 0;
      return answer === 'missing' ? undefined : isYes(answer);
    } catch (error) {
      // A server with slots, or a proxy before several servers, may refuse a script with two keys.
      if (error instanceof Error && error.message.startsWith('CROSSSLOT')) this.misses = MOST_MISSES;
      return undefined;
    }
  }
}
