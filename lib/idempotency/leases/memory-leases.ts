import { memoryBound } from '../../basics/process-memory';
import { checkOptions, MAX_TIMER, positiveInteger, type Rule } from '../../options/check';
import { warnOnce } from '../../warnings/warn-once';
import type { Acquisition, LeaseStore } from './lease-store';
import { Watchers } from './waiting';

/** A lease, or the record of a run that is done. */
interface Lease {
  readonly token: string;
  /** In milliseconds of the monotonic clock: changes of the wall clock do not end leases. */
  readonly expires: number;
  /** Ends a lease; undefined for a record, which ends by the clock. */
  readonly timer: NodeJS.Timeout | undefined;
}

/** Keys that each new key is the occasion to look at; expired records among them are forgotten. */
const LOOKED_AT = 4;
/** The same when all keys are in use. */
const LOOKED_AT_IF_FULL = 1_000;
/** From this part of the keys on, the process is warned. */
const NEARLY_FULL = 0.8;

/** Options of {@link memoryLeases}. */
export interface MemoryLeasesOptions {
  /**
   * Keys that are kept at one time, of some 500 bytes each. Beyond, requests with new keys are refused (503): a key
   * that is forgotten before it expires would run again; a process warning comes before. Default 1 000 000, or one
   * for each 4 000 bytes of memory that the process may use if those are fewer.
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
  /** Goes round the keys, a few at a time: to look at all of a million would hold the process up. */
  private round = this.leases.entries();

  constructor(private readonly maxKeys: number) {}

  /** @throws Error for a new key when there are too many. */
  acquire(key: string, token: string, ms: number): Acquisition {
    const lease = this.live(key);
    if (lease && !lease.timer) return { kind: 'done', token: lease.token };
    if (lease && lease.token !== token)
      return { kind: 'running', token: lease.token, msLeft: Math.max(0, lease.expires - performance.now()) };
    if (!this.leases.has(key)) this.makeRoom();
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

  /** Makes room for a new key. @throws Error if there is none. */
  private makeRoom(): void {
    const { leases, maxKeys } = this;
    this.forgetExpired(leases.size < maxKeys ? LOOKED_AT : LOOKED_AT_IF_FULL);
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

  private forgetExpired(count: number): void {
    for (let looked = 0; looked < count; looked++) {
      const next = this.round.next();
      if (next.done) {
        this.round = this.leases.entries();
        return;
      }
      const [key, { expires, timer }] = next.value;
      if (!timer && expires <= performance.now()) this.leases.delete(key);
    }
  }
}
