import { randomUUID } from 'node:crypto';
import { checkOptions, text, type Rule } from '../../../options/check';
import type { Acquisition, LeaseStore } from '../../leases/lease-store';
import { PageInAnyOrder, type RunFacts, type RunPage, type RunQuery, type RunRecord } from '../../leases/runs';
import { prefixFor } from '../keyv-like';
import { BorrowedClient, isCluster, isRedisClient, isSingle, Subscriber, type RedisClient } from './client';

/** Options of {@link redisLeases}. */
export interface RedisLeasesOptions {
  /** Prefix of each key: applications that share a Redis need different ones. Default `'keyv:bindonce:1::lease:'`. */
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
  // The message does not quote the value: the URL of a server has its password.
  if (!isRedisClient(client))
    throw new TypeError(
      'redisLeases: client must be a client of node-redis, ioredis or iovalkey, not a promise, nor a Keyv, which is ' +
        'passed as `store`. For example: createClient({ url }) of redis, or new Redis(url) of ioredis.',
    );
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

/** Keys that a list looks at in one step, which takes some milliseconds of the server. */
const SCANNED_AT_ONCE = 1_000;

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
    if (answer.startsWith(named)) return answer.slice(named.length);
    // The answer may be the response of another customer, so the error does not quote it.
    throw new Error(
      'The Redis client has returned something else than the answer of a lease script, maybe the answer to another ' +
        'command. Close it and connect it again; if that does not help, pass one that returns text as text.',
    );
  }
  /** Takes a step that tells others of its end, over a channel. @returns whether it was granted. */
  const end = async (step: keyof typeof scripts, key: string, token: string, ...args: unknown[]): Promise<boolean> =>
    (await ask(step, key, token, prefix + key, ...args)) === '1';
  /** Looks at all keys of the database, some at a time, since Redis has no other way to find those of a prefix. */
  async function list(query: RunQuery): Promise<RunPage> {
    const page = new PageInAnyOrder(query);
    const hash = query.keyHash ?? query.callerHash ?? '';
    for (let cursor = '0'; ;) {
      const answer = await ask('scan', '', '', cursor, SCANNED_AT_ONCE, hash, page.oldest);
      const [next, ...entries] = JSON.parse(answer) as [string, ...(readonly [key: string, entry: string])[]];
      for (const run of entries.map(entry => readRun(...entry))) if (run) page.add(run, run);
      const found = page.sort();
      if (next === '0') return found;
      cursor = next;
    }
  }
  const { client } = borrowed;
  const subscriber = isSingle(client) ? new Subscriber(client) : undefined;
  return {
    async acquire(key, token, ms, about) {
      const facts = about ? JSON.stringify(about) : '';
      return JSON.parse(await ask('acquire', key, token, ms, about?.keepUnknown ?? 0, facts)) as Acquisition;
    },
    renew: async (key, token, ms) => (await ask('renew', key, token, ms)) === '1',
    complete: (key, token, ms, status = 0) => end('complete', key, token, ms, status),
    release: (key, token) => end('release', key, token),
    settle: (key, token, outcome, ms) => end('settle', key, token, ms, 0, outcome),
    // Under a name that is no lease of a request: those have 64 digits.
    salt: () => ask('salt', 'salt', '', randomUUID()),
    get: async key => readRun(key, await ask('get', key, '')),
    // A script sees one node only.
    ...(!isCluster(client) && { list }),
    ...(subscriber && { watch: (key, onChange) => subscriber.watch(prefix + key, onChange) }),
  };
}

/** Reads what `get` answers. @returns undefined for what is no lease, also that of a purge, which has no facts. */
function readRun(cacheKey: string, entry: string): (RunRecord & RunFacts) | undefined {
  const [, msLeft, kind, number, size, rest = ''] = /^(\d+) ([rdu]):(\d+):(\d+):(.*)$/s.exec(entry) ?? [];
  const facts = rest.slice(Number(size));
  if (facts === '') return undefined;
  const leaseLeft = Number(msLeft) - (kind === 'u' ? Number(number) : 0);
  const state = kind === 'd' ? 'done' : leaseLeft > 0 ? 'running' : 'unknown';
  const ends = Date.now() + (state === 'unknown' ? Number(msLeft) : leaseLeft);
  const status = state === 'done' && number !== '0' && { status: Number(number) };
  const token = rest.slice(0, Number(size));
  return { ...(JSON.parse(facts) as RunFacts), cacheKey, token, state, ends, ...status };
}

/**
 * Makes a script that names the question in its answer: ARGV[2] is the token, ARGV[1] a number of the question.
 *
 * The value of a key is `<kind>:<number>:<length of the token>:<token><facts>`, and expires. Its kind is `r` (a lease),
 * `d` (a record; the number is the status of its response), or `u`: a lease whose run is unknown afterwards, and which
 * lasts until that is forgotten. The lease ends when as many milliseconds are left as the number says. So nothing here
 * reads a clock. The facts are JSON, for operators.
 */
const answering = (step: string): string => `local held = redis.call('GET', KEYS[1])
local kind, number, size, rest = string.match(held or '', '^([rdu]):(%d+):(%d+):(.*)$')
local holder = kind and string.sub(rest, 1, size)
local facts = kind and string.sub(rest, size + 1) or ''
local ends = redis.call('PTTL', KEYS[1])
local left = ends - (kind == 'u' and number or 0)
local isUnknown = kind == 'u' and left <= 0
local isOwn = holder == ARGV[2]
local function set(kind, number, facts, ms)
  local value = kind .. ':' .. number .. ':' .. #ARGV[2] .. ':' .. ARGV[2] .. facts
  redis.call('SET', KEYS[1], value, 'PX', ms)
end
local function lease(ms, untilForgotten, facts)
  local most = math.max(ms, untilForgotten)
  local isShorter = most > tonumber(ms)
  set(isShorter and 'u' or 'r', isShorter and most - ms or 0, facts, most)
end
local function finish(record, ms, status)
  if record then set('d', status, facts, ms) else redis.call('DEL', KEYS[1]) end
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
   * ARGV: number, token, ms, milliseconds for which it is unknown what a lease without a record has done, facts.
   * Answers what `acquire()` returns, as JSON. What none of these scripts writes keeps the key in use, by a token that
   * cannot be one.
   */
  acquire: answering(`if not held or isOwn and kind ~= 'd' then
  lease(ARGV[3], ARGV[4], ARGV[5])
  return '{"kind":"acquired"}'
end
local state = kind == 'd' and 'done' or isUnknown and 'unknown' or 'running'
local msLeft = state == 'running' and math.max(0, left) or nil
return cjson.encode({ kind = state, token = holder or held .. ' (no lease)', msLeft = msLeft })`),

  /** ARGV: number, token, ms. A server whose memory is full still carries out PEXPIRE, and refuses SET. */
  renew: answering(`if not isOwn or kind == 'd' or isUnknown then return 0 end
if kind == 'r' then return redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
lease(ARGV[3], ends, facts)
return 1`),

  /** ARGV: number, token, channel, ms, status. An expired lease that no other token has taken may be completed. */
  complete: answering(`if held and not isOwn then return 0 end
return finish(true, ARGV[4], ARGV[5])`),

  /** ARGV: number, token, channel. */
  release: answering('return isOwn and finish(false) or 0'),

  /** ARGV: number, token, channel, ms, status, outcome. */
  settle: answering("return isOwn and isUnknown and finish(ARGV[6] == 'ran', ARGV[4], ARGV[5]) or 0"),

  /** ARGV: number, token, a salt. Answers the salt of the store, which is this one if there was none. */
  salt: answering(`if not held then redis.call('SET', KEYS[1], ARGV[3]) end
return held or ARGV[3]`),

  /** ARGV: number, token. Answers the milliseconds until the lease or the record ends, and the value. */
  get: answering("return held and ends .. ' ' .. held or ''"),

  /**
   * KEYS[1] is the prefix, to which some clients add another. ARGV: number, token, cursor, how many, a hash that a run
   * has, and when the oldest was created. Answers the next cursor, and each of these keys with what `get` answers: to
   * send and to read all takes three times as long.
   */
  scan: answering(`local pattern = string.gsub(KEYS[1], '[*?%[%]\\\\]', '\\\\%0') .. '*'
local cursor, names = unpack(redis.call('SCAN', ARGV[3], 'MATCH', pattern, 'COUNT', ARGV[4]))
local answer = { cursor }
for _, name in ipairs(names) do
  local value = redis.call('TYPE', name).ok == 'string' and redis.call('GET', name)
  local key = string.sub(name, #KEYS[1] + 1)
  local created = value and tonumber(string.match(value, '"created":(%d+)')) or 0
  if value and string.find(value, ARGV[5], 1, true) and created >= tonumber(ARGV[6]) then
    table.insert(answer, { key, redis.call('PTTL', name) .. ' ' .. value })
  end
end
return cjson.encode(answer)`),
} as const;
