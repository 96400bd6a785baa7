import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoryBound } from '../../basics/process';
import { checkOptions, positiveInteger, type Rule } from '../../options/check';
import { warnOnce } from '../../warnings/warn-once';
import type { Acquisition, LeaseStore } from './lease-store';
import { localRun } from './local-runs';
import { isAskedFor, pageOf, type RunFacts, type RunPage, type RunQuery, type RunRecord } from './runs';
import { Watchers } from './waiting';

/** A lease, or the record of a run that is done. */
interface Lease {
  readonly token: string;
  isDone: boolean;
  /** In milliseconds of the monotonic clock: changes of the wall clock do not end leases. */
  expires: number;
  status: number | undefined;
  readonly about: RunFacts | undefined;
  /** The place in a list: a number that grows with each run. */
  readonly order: number;
}

/** Keys that each new key is the occasion to look at; expired ones among them are forgotten. */
const LOOKED_AT = 4;
/** The same when all keys are in use. */
const LOOKED_AT_IF_FULL = 1_000;
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

class MemoryLeases implements LeaseStore {
  private readonly leases = new Map<string, Lease>();
  private readonly watchers = new Watchers();
  private readonly hashSalt = randomUUID();
  private runs = 0;
  /** Goes round the keys, a few at a time: to look at all of a million would hold the process up. */
  private round = this.leases.entries();

  constructor(private readonly maxKeys: number) {}

  /** @throws Error for a new key when there are too many. */
  acquire(key: string, token: string, ms: number, about?: RunFacts): Acquisition {
    const lease = this.leases.get(key);
    if (!lease) this.makeRoom();
    else if (!this.isLive(key, lease)) this.leases.delete(key);
    else if (lease.isDone) return { kind: 'done', token: lease.token };
    else if (lease.token !== token)
      return { kind: 'running', token: lease.token, msLeft: Math.max(0, lease.expires - performance.now()) };
    else {
      lease.expires = performance.now() + ms;
      return { kind: 'acquired' };
    }
    // A key that has expired gets a new place: the newest are the last of the map.
    this.put(key, token, false, ms, undefined, about);
    return { kind: 'acquired' };
  }

  renew(key: string, token: string, ms: number): boolean {
    const lease = this.live(key);
    if (lease?.token !== token || lease.isDone) return false;
    lease.expires = performance.now() + ms;
    return true;
  }

  complete(key: string, token: string, ms: number, status?: number): boolean {
    const lease = this.leases.get(key);
    if (lease?.token === token) {
      lease.isDone = true;
      lease.expires = performance.now() + ms;
      lease.status = status;
    } else if (lease && this.isLive(key, lease)) return false;
    else this.put(key, token, true, ms, status);
    this.watchers.notify(key);
    return true;
  }

  release(key: string, token: string): boolean {
    if (this.live(key)?.token !== token) return false;
    this.leases.delete(key);
    this.watchers.notify(key);
    return true;
  }

  watch(key: string, onChange: () => void): Promise<() => void> {
    return Promise.resolve(this.watchers.add(key, onChange));
  }

  salt(): string {
    return this.hashSalt;
  }

  async list(query: RunQuery): Promise<RunPage> {
    const before = query.after === undefined ? Infinity : Number(query.after);
    const found: RunRecord[] = [];
    let last = 0;
    for (const [index, key] of [...this.leases.keys()].reverse().entries()) {
      // A million of them must not hold up the process.
      if (index % LISTED_AT_ONCE === 0) await nextTurn();
      const lease = this.live(key);
      if (!lease || lease.order >= before) continue;
      const run = recordOf(key, lease);
      if (!isAskedFor(query, run, lease.about)) continue;
      if (found.push(run) > query.limit) break;
      last = lease.order;
    }
    return pageOf(found, query.limit, () => String(last));
  }

  get(key: string): Promise<RunRecord | undefined> {
    const lease = this.live(key);
    return Promise.resolve(lease && recordOf(key, lease));
  }

  private live(key: string): Lease | undefined {
    const lease = this.leases.get(key);
    return lease && this.isLive(key, lease) ? lease : undefined;
  }

  /** A run of this process keeps its lease while the process stands still: no other process could take it over. */
  private isLive(key: string, { token, isDone, expires }: Lease): boolean {
    return expires > performance.now() || (!isDone && localRun(key, this)?.token === token);
  }

  private put(key: string, token: string, isDone: boolean, ms: number, status?: number, about?: RunFacts): void {
    this.leases.set(key, { token, isDone, expires: performance.now() + ms, status, about, order: ++this.runs });
  }

  /** Makes room for a new key: forgets expired ones, a few at a time. @throws Error if there is none. */
  private makeRoom(): void {
    const { leases, maxKeys } = this;
    for (let left = leases.size < maxKeys ? LOOKED_AT : LOOKED_AT_IF_FULL; left > 0; left--) {
      const next = this.round.next();
      if (next.done) {
        this.round = leases.entries();
        break;
      }
      const [key, lease] = next.value;
      if (!this.isLive(key, lease)) leases.delete(key);
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

function recordOf(cacheKey: string, { token, isDone, expires, status, about }: Lease): RunRecord {
  const ends = Math.round(performance.timeOrigin + expires);
  const { method = '', path = '', created = 0 } = about ?? {};
  const state = isDone ? 'done' : 'running';
  return { cacheKey, token, state, method, path, created, ends, ...(status !== undefined && { status }) };
}
