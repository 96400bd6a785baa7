import { checkOptions, describe, type Rule } from '../../options/check';
import type { Acquisition } from '../leases/lease-store';
import { saltedHash, type RunRecord } from '../leases/runs';
import { newToken, PURGE } from '../leases/token';
import type { ResolvedOptions } from '../options/resolved-options';
import type { RecordedResponse } from '../responses/recorded-response';
import { callStore } from '../store-calls/store-call';
import type { TimedStores } from '../store-calls/timed-stores';

/** What is known of one run, for operators. */
export interface KeyRecord extends Omit<RunRecord, 'token'> {
  /** Only if it was asked for, and is there. */
  readonly response?: RecordedResponse;
}

/** Which runs are listed: those that fit all that is given. */
export interface KeysQuery {
  readonly state?: KeyRecord['state'];
  /** The idempotency key, as the client sent it. */
  readonly key?: string;
  /** What `scope` returned for the caller. */
  readonly caller?: string;
  /** A path and all below it, without a query. */
  readonly path?: string;
  /** `after` of the answer before: lists what follows. */
  readonly after?: string;
  /** At most so many: from 1 to 1 000. Default 100. */
  readonly limit?: number;
}

/** The runs in the store of an `idempotency()`. Store calls fail as those of `purge()` do. */
export interface Keys {
  /**
   * Lists runs, the newest first.
   * @throws TypeError for an invalid query; Error if the lease store has no `list()`, as on a Redis Cluster.
   */
  list(query?: KeysQuery): Promise<{ readonly items: readonly KeyRecord[]; readonly after?: string }>;
  /**
   * Returns one run; undefined if there is none.
   * @param options `response: true` to read its response, too.
   */
  get(cacheKey: string, options?: { readonly response?: boolean }): Promise<KeyRecord | undefined>;
  /**
   * Removes what is kept of a run, the response and its record: the next request with this `req.idempotency.cacheKey`
   * runs the handler. A request that is running is left alone.
   * @returns whether a run was recorded.
   * @throws TypeError for a key that is not text; an Error whose `code` is `'store-unavailable'` if the store fails, or
   * does not answer within `storeTimeout`.
   */
  purge(cacheKey: string): Promise<boolean>;
  /**
   * Says of a run whose process has died without a record (`whenOwnerDies: 'refuse'`) whether it `'ran'`: then its
   * duplicates get 409 `response-unavailable` for `cacheDuration`; or `'did-not-run'`: then the next attempt runs.
   * @returns whether there was such a run.
   * @throws TypeError for a key that is not text, or another outcome; else as `purge` does.
   */
  resolve(cacheKey: string, outcome: 'ran' | 'did-not-run'): Promise<boolean>;
}

const STATES: readonly unknown[] = ['running', 'done', 'unknown'];
const MOST = 1_000;
const text: Rule = { expects: 'text', accepts: value => typeof value === 'string' && value !== '' };
const rules: Readonly<Record<keyof KeysQuery, Rule>> = {
  state: { expects: `one of ${STATES.join(', ')}`, accepts: value => STATES.includes(value) },
  ...{ key: text, caller: text, path: text, after: text },
  limit: {
    expects: `a whole number from 1 to ${MOST}`,
    accepts: value => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST,
  },
};
/** Milliseconds: a list may look at all keys of a store. */
const LONGEST_LIST = 30_000;

/** Makes the `keys` of a middleware. */
export function keysIn(options: ResolvedOptions, stores: TimedStores): Keys {
  const { leases, storeTimeout } = options;

  /** Returns what is known of a key: an attempt to acquire its lease tells, and leaves it as it was. */
  async function look(caller: string, cacheKey: string): Promise<Acquisition> {
    requireText(`idempotency: ${caller}()`, cacheKey);
    const own = { cacheKey, token: newToken(PURGE) };
    const found = await stores.acquire(own, storeTimeout);
    if (found.kind === 'acquired') await stores.release(own);
    return found;
  }

  return {
    async list(query = {}) {
      const { state, key, caller, path, after, limit = 100 } = query;
      checkOptions('keys.list', query, rules);
      const salt = key === undefined && caller === undefined ? '' : await stores.saltOfStore();
      if (!leases.list || salt === undefined)
        throw new Error('keys.list: the lease store has no list(). Look a run up by its cacheKey.');
      const hashed = (text: string | undefined): string | undefined => text && saltedHash(text, salt);
      const asked = { state, path, after, limit, keyHash: hashed(key), callerHash: hashed(caller) };
      const list = leases.list.bind(leases, asked);
      const page = await callStore('list() of the lease store', list, Math.max(LONGEST_LIST, storeTimeout));
      return { ...page, items: page.items.map(withoutToken) };
    },

    async get(cacheKey, { response: isAskedFor = false } = {}) {
      requireText('keys.get', cacheKey);
      if (!leases.get) throw new Error('keys.get: the lease store has no get().');
      const run = await callStore('get() of the lease store', leases.get.bind(leases, cacheKey), storeTimeout);
      if (!run) return undefined;
      const response = isAskedFor && run.state === 'done' ? await stores.read(run) : undefined;
      return { ...withoutToken(run), ...(response && { response }) };
    },

    async purge(cacheKey) {
      const found = await look('purge', cacheKey);
      if (found.kind !== 'done') return false;
      const run = { cacheKey, token: found.token };
      await stores.release(run);
      await stores.remove(run);
      return true;
    },

    async resolve(cacheKey, outcome) {
      if (!['ran', 'did-not-run'].includes(outcome))
        throw new TypeError(`idempotency: resolve() needs 'ran' or 'did-not-run', not ${describe(outcome)}`);
      const found = await look('resolve', cacheKey);
      return found.kind === 'unknown' && stores.settle({ cacheKey, token: found.token }, outcome);
    },
  };
}

function requireText(caller: string, cacheKey: unknown): void {
  if (typeof cacheKey === 'string') return;
  throw new TypeError(`${caller} needs the text of req.idempotency.cacheKey, not ${describe(cacheKey)}`);
}

/** The token is the store's own business. */
function withoutToken({ cacheKey, state, method, path, created, ends, status }: RunRecord): KeyRecord {
  return { cacheKey, state, method, path, created, ends, ...(status !== undefined && { status }) };
}
