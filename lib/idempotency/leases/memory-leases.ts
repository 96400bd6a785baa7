import { memoryBound } from '../../basics/process-memory';
import { checkOptions, MAX_TIMER, positiveInteger, type Rule } from '../../options/check';
import { isMapLike } from '../stores/keyv-like';
import { SweepInterval } from '../stores/sweep-interval';
import type { Acquisition, LeaseStore } from './lease-store';
import { Watchers } from './watchers';

/** A lease, or the record of a run that is done. */
interface Lease {
  readonly token: string;
  /** In milliseconds of the monotonic clock: changes of the wall clock do not end leases. */
  readonly expires: number;
  /** Ends a lease; undefined for a record, which ends by the clock. */
  readonly timer: NodeJS.Timeout | undefined;
}

/** How often expired records are swept, in milliseconds; between sweeps they only take memory. */
const SWEEP_INTERVAL = 10_000;
const SHORTEST_SWEEP_INTERVAL = 1_000;

/** Options of {@link memoryLeases}. */
export interface MemoryLeasesOptions {
  /**
   * Keys that are kept at one time, of some 400 bytes each (700 while the handler runs). Beyond, requests with new keys
   * are refused (503): a key that is forgotten before it expires would run again. Default 1 000 000, or one for
   * each 2 000 bytes of memory that the process may use if those are fewer.
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
  // They are in V8's heap, which has half of the memory of a container.
  return new MemoryLeases(options.maxKeys ?? memoryBound(1_000_000, 1 / 2_000));
}

/** Makes leases for a collection in this process. @returns undefined for any other store. */
export function memoryLeasesFor(store: object): LeaseStore | undefined {
  return isMapLike(store) ? memoryLeases() : undefined;
}

/** A property, because `instanceof` fails for the class of another copy of this module, which has the same symbol. */
const IN_MEMORY = Symbol.for('bindonce.leases.in-memory');

/** Returns true for leases that do not expire while this process stands still. */
export const areInMemory = (leases: LeaseStore): boolean => IN_MEMORY in leases;

/**
 * A timer ends a running lease, not a comparison with the clock: no other process can take it while this process stands
 * still, and when this process runs again, node calls its timers in the order in which they are due, the renewal before
 * the end.
 */
class MemoryLeases implements LeaseStore {
  readonly [IN_MEMORY] = true;
  private readonly leases = new Map<string, Lease>();
  private readonly watchers = new Watchers();
  /** Time of the last sweep, in milliseconds of the monotonic clock. */
  private swept = -Infinity;
  private readonly sweeping = new SweepInterval(SWEEP_INTERVAL, () => this.sweep());

  constructor(private readonly maxKeys: number) {}

  /** @throws Error for a new key when there are too many. */
  acquire(key: string, token: string, ms: number): Acquisition {
    const lease = this.live(key);
    if (lease && !lease.timer) return { kind: 'done', token: lease.token };
    if (lease && lease.token !== token) {
      return { kind: 'running', token: lease.token, msLeft: Math.max(0, lease.expires - performance.now()) };
    }
    if (!this.leases.has(key) && this.isFull())
      throw new Error(
        `memoryLeases: all ${this.maxKeys} keys are in use. Raise maxKeys, shorten cacheDuration, or use ` +
          'redisLeases() or postgresLeases().',
      );
    this.run(key, token, ms);
    return { kind: 'acquired' };
  }

  renew(key: string, token: string, ms: number): boolean {
    const lease = this.live(key);
    if (lease?.token !== token || !lease.timer) return false;
    this.run(key, token, ms);
    return true;
  }

  complete(key: string, token: string, ms: number): boolean {
    const lease = this.live(key);
    if (lease && lease.token !== token) return false;
    this.put(key, { token, expires: performance.now() + ms, timer: undefined });
    this.sweeping.start();
    this.watchers.notify(key);
    return true;
  }

  release(key: string, token: string): boolean {
    if (this.live(key)?.token !== token) return false;
    this.remove(key);
    return true;
  }

  watch(key: string, onChange: () => void): Promise<() => void> {
    return Promise.resolve(this.watchers.add(key, onChange));
  }

  /** Returns true if a key has no room. Expired ones are looked for once in a second only: there may be a million. */
  private isFull(): boolean {
    if (this.leases.size >= this.maxKeys && performance.now() >= this.swept + SHORTEST_SWEEP_INTERVAL) this.sweep();
    return this.leases.size >= this.maxKeys;
  }

  private live(key: string): Lease | undefined {
    const lease = this.leases.get(key);
    return lease && (lease.timer !== undefined || lease.expires > performance.now()) ? lease : undefined;
  }

  private run(key: string, token: string, ms: number): void {
    const end = (): void => {
      if (this.leases.get(key) === lease) this.remove(key);
    };
    // Node calls timers of one duration together, so this one may be called before a renewal that is due earlier.
    const timer = setTimeout(setImmediate, Math.min(ms, MAX_TIMER), end).unref();
    const lease: Lease = { token, expires: performance.now() + ms, timer };
    this.put(key, lease);
  }

  private put(key: string, lease: Lease): void {
    clearTimeout(this.leases.get(key)?.timer);
    this.leases.set(key, lease);
  }

  private remove(key: string): void {
    clearTimeout(this.leases.get(key)?.timer);
    this.leases.delete(key);
    this.watchers.notify(key);
  }

  private sweep(): boolean {
    const now = (this.swept = performance.now());
    let isRecordLeft = false;
    for (const [key, { expires, timer }] of this.leases) {
      if (timer) continue;
      if (expires <= now) this.leases.delete(key);
      else isRecordLeft = true;
    }
    return isRecordLeft;
  }
}
