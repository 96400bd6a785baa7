import { checkOptions, text, type Rule } from '../../../options/check';
import type { LeaseStore } from '../../leases/lease-store';
import { isKeyvLike, prefixFor } from '../keyv-like';
import { BorrowedClient, isRedisClient, isSingle, Subscriber, type RedisClient } from './client';

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
 * @throws TypeError for a value that is not a client, an unknown option, or an invalid value.
 */
export function redisLeases(client: RedisClient, options: RedisLeasesOptions = {}): LeaseStore {
  checkOptions('redisLeases', options, rules);
  if (!isRedisClient(client)) throw notAClient(client);
  return leasesOver(new BorrowedClient(client), options.prefix ?? prefixFor('lease'));
}

/**
 * Makes leases for a Keyv on `@keyv/redis` or `@keyv/valkey`, over its adapter's connection.
 * @returns undefined for other adapters.
 */
export function redisLeasesFor(adapter: object, namespace: string | undefined): LeaseStore | undefined {
  const borrowed = BorrowedClient.of(adapter);
  return borrowed && leasesOver(borrowed, prefixFor('lease', namespace));
}

/** The number of the last question to Redis. */
let questions = 0;

function leasesOver(borrowed: BorrowedClient, prefix: string): LeaseStore {
  /**
   * Runs a step. A client can lose count of its answers when a connection breaks, as node-redis 5 does: from then on,
   * each command gets the answer to another. So an answer counts only if it names the token and the number of this
   * question.
   * @throws Error for the answer to another question.
   */
  async function ask(step: keyof typeof scripts, key: string, token: string, ...args: unknown[]): Promise<string> {
    const number = String(++questions);
    const answer = String(await borrowed.evaluate(scripts[step], prefix + key, [number, token, ...args.map(String)]));
    const named = `${token} ${number} `;
    // The answer may be the response of another customer, so the error does not quote it.
    if (!answer.startsWith(named))
      throw new Error(
        'The Redis client has returned something else than the answer of a lease script, maybe the answer to another ' +
          'command. Close it and connect it again; if that does not help, pass one that returns text as text.',
      );
    return answer.slice(named.length);
  }
  const leases: LeaseStore = {
    async acquire(key, token, ms, about) {
      const [kind, ...rest] = (await ask('acquire', key, token, ms, about?.keepUnknown ?? 0)).split(' ');
      if (kind === 'acquired') return { kind };
      if (kind === 'done' || kind === 'unknown') return { kind, token: rest.join(' ') };
      const [msLeft, ...holder] = rest;
      return { kind: 'running', msLeft: Math.max(0, Number(msLeft)), token: holder.join(' ') };
    },
    renew: async (key, token, ms) => (await ask('renew', key, token, ms)) === '1',
    complete: async (key, token, ms) => (await ask('complete', key, token, prefix + key, ms)) === '1',
    release: async (key, token) => (await ask('release', key, token, prefix + key)) === '1',
    settle: async (key, token, outcome, ms) => (await ask('settle', key, token, prefix + key, ms, outcome)) === '1',
  };
  const { client } = borrowed;
  if (!isSingle(client)) return leases;
  const subscriber = new Subscriber(client);
  return { ...leases, watch: (key, onChange) => subscriber.watch(prefix + key, onChange) };
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

/**
 * Makes a script that names the question in its answer: ARGV[2] is the token, ARGV[1] a number of the question.
 *
 * A lease is the string `r:<token>` (running) with an expiry, a record `d:<token>` (done). A lease whose run is unknown
 * afterwards is `u:<ms>:<token>`, and lasts until what is unknown is forgotten: its end is when `ms` milliseconds are
 * left of that. So nothing here reads a clock.
 */
const answering = (step: string): string => `local held = redis.call('GET', KEYS[1])
local kind, after, holder = string.match(held or '', '^(u):(%d+):(.*)$')
if not kind then kind, holder = string.match(held or '', '^([rd]):(.*)$') end
local ends = redis.call('PTTL', KEYS[1])
local left = ends - (after or 0)
local isUnknown = kind == 'u' and left <= 0
local isOwn = holder == ARGV[2]
local function lease(ms, untilForgotten)
  local most = math.max(ms, untilForgotten)
  local name = most > tonumber(ms) and 'u:' .. most - ms .. ':' or 'r:'
  redis.call('SET', KEYS[1], name .. ARGV[2], 'PX', most)
end
local function finish(record, ms)
  if record then redis.call('SET', KEYS[1], 'd:' .. ARGV[2], 'PX', ms) else redis.call('DEL', KEYS[1]) end
  redis.pcall('PUBLISH', ARGV[3], record and 'done' or 'released')
  return 1
end
local function step()
${step}
end
return ARGV[2] .. ' ' .. ARGV[1] .. ' ' .. step()`;

/**
 * The steps on Redis, each one script and so one atomic step (redis.io, "Scripting with Lua"). Its key is KEYS[1].
 * Every answer is one text, because clients may convert numbers. A notification that the run has ended goes to a
 * channel. It may fail, for a user who may not publish there: waiters poll.
 */
const scripts = {
  /**
   * ARGV: number, token, ms, milliseconds for which it is unknown what a lease without a record has done. Answers
   * `acquired`, `done <token>`, `unknown <token>` or `running <ms left> <token>`. What none of these scripts writes
   * keeps the key in use, by a token that cannot be one.
   */
  acquire: answering(`if not held or isOwn and kind ~= 'd' then
  lease(ARGV[3], ARGV[4])
  return 'acquired'
end
if kind == 'd' then return 'done ' .. holder end
if isUnknown then return 'unknown ' .. holder end
return 'running ' .. (kind and left .. ' ' .. holder or '0 ' .. held .. ' (no lease)')`),

  /** ARGV: number, token, ms. */
  renew: answering(`if not isOwn or kind == 'd' or isUnknown then return 0 end
lease(ARGV[3], kind == 'u' and ends or 0)
return 1`),

  /** ARGV: number, token, channel, ms. An expired lease that no other token has taken may be completed. */
  complete: answering(`if held and not isOwn then return 0 end
return finish(true, ARGV[4])`),

  /** ARGV: number, token, channel. */
  release: answering('return isOwn and finish(false) or 0'),

  /** ARGV: number, token, channel, ms, outcome. */
  settle: answering("return isOwn and isUnknown and finish(ARGV[5] == 'ran', ARGV[4]) or 0"),
} as const;
