import { createHmac } from 'node:crypto';

/** What is known of a request when it asks to run; a store may keep it for its operators. */
export interface RunFacts {
  /** Milliseconds for which a run is `unknown` whose lease ends without a record; absent: it is free at once. */
  readonly keepUnknown?: number | undefined;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The key, hashed with the `salt()` of the store; absent for a store without one. */
  readonly keyHash?: string | undefined;
  /** The same of what `scope` returns; absent for requests without a scope, too. */
  readonly callerHash?: string | undefined;
  /** When the request came, in milliseconds since 1970. */
  readonly created: number;
}

/**
 * The facts of a request. Key and caller are hashed with the salt of the store when the hashes are read: a store in
 * memory does so when it is asked for a list.
 */
export class Facts implements RunFacts {
  readonly created = Date.now();
  readonly #key: string;
  readonly #scope: string | undefined;
  #salt: string | undefined;

  constructor(
    readonly method: string,
    readonly path: string,
    readonly keepUnknown: number | undefined,
    key: string,
    scope: string | undefined,
  ) {
    this.#key = key;
    this.#scope = scope;
  }

  /** Tells with which salt; without one there are no hashes. */
  salted(salt: string | undefined): this {
    this.#salt = salt;
    return this;
  }

  get keyHash(): string | undefined {
    return this.#salt === undefined ? undefined : saltedHash(this.#key, this.#salt);
  }

  get callerHash(): string | undefined {
    return this.#salt === undefined || this.#scope === undefined ? undefined : saltedHash(this.#scope, this.#salt);
  }

  toJSON(): RunFacts {
    const { keepUnknown, method, path, keyHash, callerHash, created } = this;
    return { keepUnknown, method, path, keyHash, callerHash, created };
  }
}

/** Hashes a key or a caller: keys are often order numbers, which a plain hash would give away. */
export const saltedHash = (text: string, salt: string): string =>
  createHmac('sha256', salt).update(text).digest('base64url');

/** What a store tells its operators of one run. */
export interface RunRecord extends Pick<RunFacts, 'method' | 'path' | 'created'> {
  readonly cacheKey: string;
  /** Of the run; its response is stored under it. */
  readonly token: string;
  readonly state: 'running' | 'done' | 'unknown';
  /** The status of its response; absent while there is none. */
  readonly status?: number;
  /**
   * When the lease or the record ends, or what is unknown of the run is forgotten, in milliseconds since 1970.
   */
  readonly ends: number;
}

/** Which runs are asked for: those of a path and of all paths below it, for example. */
export interface RunQuery extends Partial<Pick<RunFacts, 'path' | 'keyHash' | 'callerHash'>> {
  readonly state?: RunRecord['state'];
  /** What the answer before has returned as `after`. */
  readonly after?: string;
  readonly limit: number;
}

/** Runs, the newest first. */
export interface RunPage {
  readonly items: readonly RunRecord[];
  /** Asks for those that follow; absent if there are none. */
  readonly after?: string;
}

/** Where a page begins: behind the run that was created then, under this key. */
type Mark = Pick<RunRecord, 'created' | 'cacheKey'>;

/** @returns the mark in the `after` of a query; undefined for the first page. Nothing follows another text. */
export function markIn({ after }: RunQuery): Mark | undefined {
  const [, created = 0, cacheKey = ''] = /^(\d+)\.(.*)$/s.exec(after ?? '') ?? [];
  return after === undefined ? undefined : { created: Number(created), cacheKey };
}

/** Makes a page of one more run than it may have, which says that there are others. */
export function pageOf(runs: readonly RunRecord[], limit: number): RunPage {
  const items = runs.slice(0, limit);
  const last = items.at(-1);
  return last && runs.length > limit ? { items, after: `${last.created}.${last.cacheKey}` } : { items };
}

const newestFirst = (one: Mark, other: Mark): number =>
  other.created - one.created || (one.cacheKey < other.cacheKey ? 1 : -1);

/** Makes a page of runs that come in any order, some at a time, and maybe twice. */
export class PageInAnyOrder {
  private newest = new Map<string, RunRecord>();
  private readonly mark: Mark | undefined;
  /** When the oldest of a full page was created: older ones are on a later page. */
  oldest = 0;

  constructor(private readonly query: RunQuery) {
    this.mark = markIn(query);
  }

  /** @param about the hashes of the run, which are read only if they are asked for. */
  add(run: RunRecord, about: Pick<RunFacts, 'keyHash' | 'callerHash'>): void {
    const { state, path, keyHash, callerHash } = this.query;
    if (
      run.created >= this.oldest &&
      (state === undefined || run.state === state) &&
      (path === undefined || run.path === path || run.path.startsWith(`${path}/`)) &&
      (keyHash === undefined || about.keyHash === keyHash) &&
      (callerHash === undefined || about.callerHash === callerHash) &&
      (!this.mark || newestFirst(run, this.mark) > 0)
    )
      this.newest.set(run.cacheKey, run);
  }

  /** Forgets what is on a later page; called after some were added. */
  sort(): RunPage {
    const runs = [...this.newest.values()].sort(newestFirst).slice(0, this.query.limit + 1);
    this.newest = new Map(runs.map(run => [run.cacheKey, run]));
    this.oldest = runs[this.query.limit]?.created ?? 0;
    return pageOf(runs, this.query.limit);
  }
}
