import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryBound } from '../../basics/process';
import { checkOptions, positiveInteger, type Rule } from '../../options/check';
import { warnOnce } from '../../warnings/warn-once';
import { RecordLeases, type Decision, type HeldRun, type LeaseStore } from './lease-store';
import { localRun } from './local-runs';
import { PageInAnyOrder, type RunPage, type RunQuery, type RunRecord } from './runs';
import { Watchers } from './waiting';

/** After so many new keys, and for each one when all keys are in use, … */
const NEW_KEYS = 250;
/** … so many keys are looked at, and expired ones among them are forgotten. (One by one, it would take longer.) */
const LOOKED_AT = 1_000;
/** Keys that a list looks at in one turn of the event loop. */
const LISTED_AT_ONCE = 1_000;
/** From this part of the keys on, the process is warned. */
const NEARLY_FULL = 0.8;

/** Options of {@link memoryLeases}. */
export interface MemoryLeasesOptions {
  /**
   * Keys that are kept at one time; beyond, new keys get 503. Default 1,000,000, fewer if the process may use less than
   * 4 GB of memory.
   */
  readonly maxKeys?: number;
}

const rules: Readonly<Record<keyof MemoryLeasesOptions, Rule>> = { maxKeys: positiveInteger };

/**
 * Leases for one process: each step is synchronous, and so atomic.
 * @throws TypeError for an unknown option or an invalid value.
 */
export function memoryLeases(options: MemoryLeasesOptions = {}): LeaseStore {
  checkOptions('memoryLeases', options, rules);
  return new MemoryLeases(options.maxKeys ?? memoryBound(1_000_000, 1 / 4_000));
}

export class MemoryLeases extends RecordLeases implements LeaseStore {
  /** The times of a run are those of the monotonic clock: changes of the wall clock do not end leases. */
  private readonly leases = new Map<string, HeldRun>();
  private readonly watchers = new Watchers();
  private readonly hashSalt = randomUUID();
  /** Goes round the keys, a few at a time: to look at all of a million would hold the process up. */
  private round = this.leases.entries();
  private newKeys = 0;

  constructor(private readonly maxKeys: number) {
    super();
  }

  watch(key: string, onChange: () => void): Promise<() => void> {
    return Promise.resolve(this.watchers.add(key, onChange));
  }

  salt(): string {
    return this.hashSalt;
  }

  async list(query: RunQuery): Promise<RunPage> {
    const page = new PageInAnyOrder(query);
    // From the newest on, about: once a page is full, older runs are passed over.
    for (const [index, key] of [...this.leases.keys()].reverse().entries()) {
      const lease = this.leases.get(key);
      if (lease?.about && lease.about.created >= page.oldest && this.isLive(key, lease, performance.now()))
        page.add(recordOf(key, lease), lease.about);
      if (index % LISTED_AT_ONCE < LISTED_AT_ONCE - 1) continue;
      page.sort();
      await nextTurn();
    }
    return page.sort();
  }

  get(key: string): Promise<RunRecord | undefined> {
    const lease = this.leases.get(key);
    return Promise.resolve(lease && this.isLive(key, lease, performance.now()) ? recordOf(key, lease) : undefined);
  }

  /** A run of this process keeps its lease while the process stands still: no other process could take it over. */
  private isLive(key: string, { token, isDone, expires }: HeldRun, now: number): boolean {
    return expires > now || (!isDone && localRun(key, this)?.id.token === token);
  }

  /** @throws Error for a new key when there are too many. */
  protected step<T>(key: string, decide: Decision<T>): T {
    const now = performance.now();
    const found = this.leases.get(key);
    return decide(found && this.isLive(key, found, now) ? found : undefined, now, next => {
      if (!found && next && !next.isDone) this.makeRoom(now);
      if (next) this.leases.set(key, next);
      else this.leases.delete(key);
      if (!next || next.isDone) this.watchers.notify(key);
    });
  }

  /** Makes room for a new key: forgets expired ones. @throws Error if there is none. */
  private makeRoom(now: number): void {
    const { leases, maxKeys } = this;
    let left = ++this.newKeys % NEW_KEYS === 0 || leases.size >= maxKeys ? LOOKED_AT : 0;
    for (; left > 0; left--) {
      const next = this.round.next();
      if (next.done) this.round = leases.entries();
      else if (!this.isLive(next.value[0], next.value[1], now)) leases.delete(next.value[0]);
    }
    if (leases.size >= maxKeys)
      throw new Error(
        `memoryLeases: all ${maxKeys} keys are in use. Raise maxKeys, shorten cacheDuration, or use redisLeases() or ` +
          'postgresLeases().',
      );
    if (leases.size === Math.floor(maxKeys * NEARLY_FULL))
      warnOnce(
        'BINDONCE_MEMORY_KEYS',
        `idempotency: ${leases.size} keys are kept in memory, and from ${maxKeys} on, requests with new keys are ` +
          'refused (503). Pass a store that is not in memory, shorten cacheDuration, or raise maxKeys of ' +
          'memoryLeases().',
      );
  }
}

function recordOf(cacheKey: string, { token, isDone, expires, status, about }: HeldRun): RunRecord {
  const ends = Math.round(performance.timeOrigin + expires);
  const { method = '', path = '', created = 0 } = about ?? {};
  const state = isDone ? 'done' : 'running';
  return { cacheKey, token, state, method, path, created, ends, ...(status !== undefined && { status }) };
}
