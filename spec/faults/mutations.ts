/** A line of the built library, and what it is replaced by. */
export interface Edit {
  readonly file: string;
  readonly line: string;
  readonly broken: string;
}

/** What breaks one promise. */
export interface Mutation extends Edit {
  readonly title: string;
  /** A second guard of the same promise. */
  readonly also?: Edit;
  /** The faults under which the break shows soonest. */
  readonly storm: readonly string[];
  /** What the judge has to say of it. */
  readonly verdict: RegExp;
}

/** Six ways to get it wrong, each of which some library has. */
export const mutations: readonly Mutation[] = [
  {
    title: 'complete does not look who has the lease (no fence)',
    file: 'idempotency/stores/redis/leases.js',
    line: 'if held and not isOwn then return 0 end\n',
    broken: '',
    // The lease is asked for first where it may have expired.
    also: {
      file: 'idempotency/run/publish.js',
      line: 'if (deadline < run.leaseUntil)',
      broken: 'if (run.leaseUntil >= 0)',
    },
    storm: ['--only', 'server stopped', '--faults', '12'],
    verdict: /published twice|answered in two ways/,
  },
  {
    title: 'release does not look whose the lease is',
    file: 'idempotency/stores/redis/leases.js',
    line: 'return isOwn and finish(false) or 0',
    broken: 'return held and finish(false) or 0',
    storm: ['--only', 'stalled', '--only', 'paused', '--faults', '10'],
    verdict: /ran again for no reason/,
  },
  {
    title: 'the lease is completed before the response is stored',
    file: 'idempotency/store-calls/timed-stores.js',
    line: '(0, awaitable_1.after)(responses.set(cacheKey, token, response, lifetime), complete)',
    broken: `(0, awaitable_1.after)(complete(), async isOurs => {
                await responses.set(cacheKey, token, response, lifetime);
                return isOurs;
            })`,
    storm: ['--only', 'dropped', '--only', 'server killed', '--faults', '20'],
    verdict: /answered with 409/,
  },
  {
    title: 'the client is answered before the lease is completed',
    file: 'idempotency/run/run.js',
    line: 'const kept =',
    // The pause makes the moment between both as long as it is on a busy machine, so that a kill hits it.
    broken: `recorder.finish();
    await new Promise(resolve => setTimeout(resolve, 200));
    const kept =`,
    storm: ['--only', 'server killed', '--only', 'stalled', '--faults', '20'],
    verdict: /answered in two ways/,
  },
  {
    title: 'leases are not renewed',
    file: 'idempotency/leases/local-runs.js',
    line: 'renewed.add(this);',
    broken: 'this.due = Infinity;',
    // The judge excuses what a stalled process does, so on a busy machine it takes many keys until one has no excuse.
    storm: ['--only', 'none', '--keys', '1000', '--settling', '3000'],
    verdict: /ran again for no reason/,
  },
  {
    title: 'acquire looks first and sets then',
    file: 'idempotency/stores/redis/leases.js',
    line: "return JSON.parse(await ask('acquire'",
    broken: `const look = "return redis.call('GET', KEYS[1])";
        if (!await borrowed.evaluate(look, prefix + key, [])) {
            const set = "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])";
            await borrowed.evaluate(set, prefix + key, ['r:0:' + token.length + ':' + token, String(ms)]);
            return { kind: 'acquired' };
        }
        return JSON.parse(await ask('acquire'`,
    storm: ['--only', 'none'],
    verdict: /ran again for no reason/,
  },
];
