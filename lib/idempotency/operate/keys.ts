import { checkOptions, describe, type Rule } from '../../options/check';
import { saltedHash, type RunRecord } from '../leases/runs';
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
  /** {@link IdempotencyMiddleware.purge} */
  purge(cacheKey: string): Promise<boolean>;
  /** {@link IdempotencyMiddleware.resolve} */
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

export class StoreKeys implements Keys {
  constructor(
    private readonly options: ResolvedOptions,
    private readonly stores: TimedStores,
  ) {}

  async list(query: KeysQuery = {}): ReturnType<Keys['list']> {
    const { state, key, caller, path, after, limit = 100 } = query;
    checkOptions('keys.list', query, rules);
    const { leases, storeTimeout } = this.options;
    const salt = key === undefined && caller === undefined ? '' : await this.stores.saltOfStore();
    if (!leases.list || salt === undefined)
      throw new Error('keys.list: the lease store has no list(). Look a run up by its cacheKey.');
    const hashed = (text: string | undefined): string | undefined => text && saltedHash(text, salt);
    const asked = { state, path, after, limit, keyHash: hashed(key), callerHash: hashed(caller) };
    const list = leases.list.bind(leases, asked);
    const page = await callStore('list() of the lease store', list, Math.max(LONGEST_LIST, storeTimeout));
    return { ...page, items: page.items.map(withoutToken) };
  }

  async get(cacheKey: string, options: { readonly response?: boolean } = {}): Promise<KeyRecord | undefined> {
    const { leases, storeTimeout } = this.options;
    if (typeof cacheKey !== 'string')
      throw new TypeError(`keys.get needs the text of req.idempotency.cacheKey, not ${describe(cacheKey)}`);
    if (!leases.get) throw new Error('keys.get: the lease store has no get().');
    const run = await callStore('get() of the lease store', leases.get.bind(leases, cacheKey), storeTimeout);
    if (!run) return undefined;
    const response = options.response && run.state === 'done' ? await this.stores.read(run) : undefined;
    return { ...withoutToken(run), ...(response && { response }) };
  }

  purge(cacheKey: string): Promise<boolean> {
    return this.stores.purge(cacheKey);
  }

  resolve(cacheKey: string, outcome: 'ran' | 'did-not-run'): Promise<boolean> {
    return this.stores.resolve(cacheKey, outcome);
  }
}

/** The token is the store's own business. */
function withoutToken({ cacheKey, state, method, path, created, ends, status }: RunRecord): KeyRecord {
  return { cacheKey, state, method, path, created, ends, ...(status !== undefined && { status }) };
}
