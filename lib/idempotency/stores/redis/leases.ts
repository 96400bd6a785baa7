import { checkOptions, text, type Rule } from '../../../options/check';
import type { Acquisition, LeaseStore } from '../../leases/lease-store';
import { isKeyvLike, prefixFor } from '../keyv-like';
import { borrow, borrowFrom, type BorrowedClient, type RedisClient } from './client';
import { scripts } from './scripts';
import { Subscriber } from './subscriber';

/** Options of {@link redisLeases}. */
export interface RedisLeasesOptions {
  /**
   * Prefix of each key: applications that share a Redis need different ones. The leases that a Keyv with the namespace
   * `shop` has without `leases` are under `'shop:bindonce:1::lease:'`. Default that of a Keyv without a namespace,
   * `'keyv:bindonce:1::lease:'`.
   */
  readonly prefix?: string;
}

const rules: Readonly<Record<keyof RedisLeasesOptions, Rule>> = { prefix: text };

/**
 * Makes leases on Redis, Valkey or a server that speaks their protocol and runs their scripts: one holder for each key
 * among all processes that use the same server.
 * @param client of the application, which connects it and closes it last.
 * @throws TypeError for a value that is not a client, or is a subscriber, an unknown option, or an invalid value.
 */
export function redisLeases(client: RedisClient, options: RedisLeasesOptions = {}): LeaseStore {
  checkOptions('redisLeases', options, rules);
  const borrowed = borrow(client);
  if (!borrowed) throw notAClient(client);
  return new RedisLeases(borrowed, options.prefix ?? prefixFor('lease'));
}

/**
 * Makes leases for a Keyv on `@keyv/redis` or `@keyv/valkey`, over its adapter's connection.
 * @returns undefined for other adapters.
 */
export function redisLeasesFor(adapter: object, namespace: string | undefined): LeaseStore | undefined {
  const borrowed = borrowFrom(adapter);
  return borrowed && new RedisLeases(borrowed, prefixFor('lease', namespace));
}

/** Shared by every copy of this module. An application's own lease store may have members with any plain name. */
const CLOSED = Symbol.for('bindonce.leases.closed');

/** Refuses a call of a Keyv that would open its closed client again. @throws Error if the client is closed. */
export function refuseIfClosed(leases: LeaseStore & { readonly [CLOSED]?: boolean }): void {
  if (leases[CLOSED] === true)
    throw new Error(
      'The client of the store is closed. Close it only when server.close() has finished and all handlers have ended.',
    );
}

/** The number of the last question to Redis. */
let questions = 0;

class RedisLeases implements LeaseStore {
  readonly watch?: (key: string, onChange: () => void) => Promise<() => void>;

  constructor(
    private readonly client: BorrowedClient,
    private readonly prefix: string,
  ) {
    if (!client.openSubscriptions) return;
    const subscriber = new Subscriber(client.openSubscriptions);
    client.onEnd(() => {
      subscriber.close();
    });
    this.watch = (key, onChange) => subscriber.watch(prefix + key, onChange);
  }

  /** True while the client is closed. */
  get [CLOSED](): boolean {
    return this.client.isClosed;
  }

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    const [kind, ...rest] = (await this.run('acquire', key, token, String(ms))).split(' ');
    if (kind === 'acquired') return { kind };
    if (kind === 'done') return { kind, token: rest.join(' ') };
    const [msLeft, ...holder] = rest;
    return { kind: 'running', msLeft: Math.max(0, Number(msLeft)), token: holder.join(' ') };
  }

  async renew(key: string, token: string, ms: number): Promise<boolean> {
    return (await this.run('renew', key, token, String(ms))) === '1';
  }

  async complete(key: string, token: string, ms: number): Promise<boolean> {
    return (await this.run('complete', key, token, this.prefix + key, String(ms))) === '1';
  }

  async release(key: string, token: string): Promise<boolean> {
    return (await this.run('release', key, token, this.prefix + key)) === '1';
  }

  /**
   * Runs a step. A client can lose count of its answers when a connection breaks, as node-redis 5 does: from then on,
   * each command gets the answer to another. So an answer counts only if it names the token and the number of this
   * question.
   * @throws Error for the answer to another question.
   */
  private async run(step: keyof typeof scripts, key: string, token: string, ...args: string[]): Promise<string> {
    const number = String(++questions);
    const answer = String(await this.client.evaluate(scripts[step], this.prefix + key, [number, token, ...args]));
    const named = `${token} ${number} `;
    // The answer may be the response of another customer, so the error does not quote it.
    if (!answer.startsWith(named))
      throw new Error(
        'The Redis client has returned something else than the answer of a lease script, maybe the answer to another ' +
          'command. Close it and connect it again; if that does not help, pass one that returns text as text.',
      );
    return answer.slice(named.length);
  }
}

/** Names the value, but quotes no text: the URL of a server has its password. */
function notAClient(given: unknown): TypeError {
  const what =
    given instanceof Promise
      ? 'a promise: await it first'
      : isKeyvLike(given)
        ? 'a Keyv: pass that as `store`, and leases are made from it; or pass its client'
        : `a value of type ${given === null ? 'null' : typeof given}`;
  return new TypeError(
    `redisLeases: client must be a client of node-redis, ioredis or iovalkey, not ${what}. ` +
      'For example: createClient({ url }) of redis, or new Redis(url) of ioredis.',
  );
}
