import { aCount, checkOptions, type Rule } from '../../options/check';
import type { Acquisition, LeaseStore } from './lease-store';

interface Lease {
  readonly token: string;
  readonly state: 'running' | 'done';
  /** Milliseconds of the monotonic clock: changes of the wall clock do not end leases. */
  readonly expires: number;
}

/** How often expired leases are swept, in milliseconds; between sweeps they are only dead weight. */
const SWEEP_INTERVAL = 10_000;

/** What can be chosen about leases in memory. */
export interface MemoryLeasesOptions {
  /**
   * Keys that are kept at one time, of some 400 bytes each. Beyond, requests with new keys are refused (503): a key that was
   * forgotten before its time would run again. Default 1 000 000.
   */
  readonly maxKeys?: number;
}

const rules: Readonly<Record<keyof MemoryLeasesOptions, Rule>> = { maxKeys: aCount };

/**
 * Leases for one process: each step is synchronous, and so atomic.
 * @throws TypeError for an unknown option, or a value that is none.
 */
export function memoryLeases(options: MemoryLeasesOptions = {}): LeaseStore {
  checkOptions('memoryLeases', options, rules);
  return new MemoryLeases(options.maxKeys ?? 1_000_000);
}

/** Beside a collection in this process. */
export function memoryLeasesBeside(store: object): LeaseStore | undefined {
  return isMapLike(store) ? memoryLeases() : undefined;
}

/** What tells a collection in this process from the adapter of a server: it can be iterated or counted on the spot. */
export function isMapLike(store: object): boolean {
  return Symbol.iterator in store || typeof (store as { size?: unknown }).size === 'number';
}

class MemoryLeases implements LeaseStore {
  private readonly leases = new Map<string, Lease>();
  private readonly watchers = new Map<string, Set<() => void>>();
  private sweeping: NodeJS.Timeout | undefined;

  constructor(private readonly maxKeys: number) {}

  /** @throws Error for a new key when there are too many. */
  acquire(key: string, token: string, ms: number): Acquisition {
    const lease = this.live(key);
    if (lease && lease.token !== token) {
      return lease.state === 'done' ? { kind: 'done', token: lease.token } : { kind: 'running', token: lease.token, msLeft: lease.expires - performance.now() };
    }
    if (lease?.state === 'done') return { kind: 'done', token };
    if (this.leases.size >= this.maxKeys && !this.leases.has(key)) throw new Error(`There are ${this.maxKeys} keys in memory, and room for no more`);
    this.put(key, token, 'running', ms);
    return { kind: 'acquired' };
  }

  renew(key: string, token: string, ms: number): boolean {
    const lease = this.live(key);
    if (lease?.token !== token || lease.state !== 'running') return false;
    this.put(key, token, 'running', ms);
    return true;
  }

  complete(key: string, token: string, ms: number): boolean {
    const lease = this.live(key);
    if (lease && lease.token !== token) return false;
    this.put(key, token, 'done', ms);
    this.wake(key);
    return true;
  }

  release(key: string, token: string): boolean {
    if (this.live(key)?.token !== token) return false;
    this.leases.delete(key);
    this.wake(key);
    return true;
  }

  watch(key: string, onChange: () => void): Promise<() => void> {
    const watchers = this.watchers.get(key) ?? new Set();
    this.watchers.set(key, watchers.add(onChange));
    return Promise.resolve(() => {
      watchers.delete(onChange);
      if (watchers.size === 0 && this.watchers.get(key) === watchers) this.watchers.delete(key);
    });
  }

  private live(key: string): Lease | undefined {
    const lease = this.leases.get(key);
    return lease && lease.expires > performance.now() ? lease : undefined;
  }

  private put(key: string, token: string, state: Lease['state'], ms: number): void {
    this.leases.set(key, { token, state, expires: performance.now() + ms });
    this.sweeping ??= setInterval(() => { this.sweep(); }, SWEEP_INTERVAL).unref();
  }

  private wake(key: string): void {
    for (const onChange of [...this.watchers.get(key) ?? []]) onChange();
  }

  private sweep(): void {
    const now = performance.now();
    for (const [key, { expires }] of this.leases) if (expires <= now) this.leases.delete(key);
    if (this.leases.size > 0) return;
    clearInterval(this.sweeping);
    this.sweeping = undefined;
  }
}
