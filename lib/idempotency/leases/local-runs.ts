import { isPromise, recovering, type Awaitable } from '../../basics/awaitable';
import { oneInProcess } from '../../basics/process';
import type { LeaseStore } from './lease-store';
import type { RunId } from './token';

type Runs = Map<string, Pick<LocalRun, 'id' | 'phase' | 'overtaken'>>;

/**
 * The runs of this process by lease store and cache key, and the responses that wait to be stored. Shared by all copies
 * of this module, since their middlewares may share a lease store.
 */
const local = oneInProcess('local-runs', () => ({
  runs: new WeakMap<LeaseStore, Runs>(),
  waiting: { responses: 0, bytes: 0 },
}));

/** Returns the run of this process under a key, if there is one. */
export function localRun(cacheKey: string, leases: LeaseStore): Pick<LocalRun, 'id' | 'phase'> | undefined {
  return local.runs.get(leases)?.get(cacheKey);
}

/** Responses that may wait to be stored, and bytes of their bodies: each run of an outage would add one. */
const MOST = { responses: 1_000, bytes: 67_108_864 };

/** Returns the number of responses that wait to be stored if it is too high for another run; else 0. */
export function tooManyWaiting(): number {
  const { responses, bytes } = local.waiting;
  return responses >= MOST.responses || bytes >= MOST.bytes ? responses : 0;
}

/** Renewals while a lease lasts: two may fail before it is lost. */
export const RENEWALS_PER_LEASE = 3;

/** The runs whose handlers are at work. One timer wakes for all of them: most end before their first renewal is due. */
const renewed = new Set<LocalRun>();
let timer: NodeJS.Timeout | undefined;
let wakesAt = Infinity;

function wakeAt(due: number): void {
  if (due >= wakesAt) return;
  wakesAt = due;
  clearTimeout(timer);
  timer = setTimeout(wake, Math.max(0, Math.ceil(due - performance.now()))).unref();
}

function wake(): void {
  wakesAt = Infinity;
  const now = performance.now();
  for (const run of renewed) {
    if (now >= run.due) void run.renewOnce(now);
    wakeAt(run.due);
  }
}

/** A run of this process, whose lease is renewed while its handler is at work. */
export class LocalRun {
  /** Its handler is at work, or its response is being stored in the background. */
  phase: 'running' | 'storing' = 'running';
  /**
   * When the lease expires by our own clock, in milliseconds of the monotonic clock. In a process that was stopped,
   * this may be over although `lose()` has not been called yet.
   */
  leaseUntil: number;
  /** When the lease is renewed next, or is lost because no renewal has succeeded. */
  due: number;
  private readonly runs: Runs;

  /**
   * @param asked when the lease was asked for: it begins then, not when the answer arrives.
   * @param run forgotten at its end: tables that V8 has replaced hold what was in them until a full collection, and
   * requests in them would take a third of the CPU time on Redis.
   */
  constructor(
    readonly id: RunId,
    asked: number,
    private readonly options: { readonly leases: LeaseStore; readonly leaseDuration: number },
    private run:
      | {
          /** @returns whether the run still holds the lease. */
          renew(): Awaitable<boolean>;
          /** Called once, when another run has the lease, or it has expired because the store was out of reach. */
          lose(): void;
        }
      | undefined,
  ) {
    const { leases, leaseDuration } = options;
    this.leaseUntil = asked + leaseDuration;
    this.due = asked + leaseDuration / RENEWALS_PER_LEASE;
    this.runs = local.runs.get(leases) ?? new Map<string, LocalRun>();
    if (this.runs.size === 0) local.runs.set(leases, this.runs);
    this.runs.get(id.cacheKey)?.overtaken();
    this.runs.set(id.cacheKey, this);
    renewed.add(this);
    wakeAt(this.due);
  }

  /** Called before another run of this process begins: this one may not have been told yet that its lease is over. */
  overtaken(): void {
    if (renewed.delete(this)) this.run?.lose();
  }

  /** Called when the handler has ended. */
  stopRenewing(): void {
    renewed.delete(this);
  }

  /** Keeps the run while its response is being stored in the background. */
  async keepUntil(stored: Promise<void>, bytes: number): Promise<void> {
    this.phase = 'storing';
    local.waiting.responses++;
    local.waiting.bytes += bytes;
    await stored;
    local.waiting.responses--;
    local.waiting.bytes -= bytes;
    this.phase = 'running';
    this.end();
  }

  /** Forgets the run, unless its response waits to be stored. */
  end(): void {
    renewed.delete(this);
    this.run = undefined;
    const { runs, id } = this;
    if (this.phase === 'running' && runs.get(id.cacheKey) === this) runs.delete(id.cacheKey);
  }

  async renewOnce(asked: number): Promise<void> {
    const { leaseDuration } = this.options;
    this.due = asked + leaseDuration / RENEWALS_PER_LEASE;
    // At its end by our own clock at the latest: a waiter of this process asks a moment after it.
    if (asked < this.leaseUntil) this.due = Math.min(this.due, this.leaseUntil);
    const renewal = recovering<boolean | undefined>(
      () => this.run?.renew(),
      () => undefined,
    );
    // Our own clock ends the lease, whatever the answer will be: others may run from then on. (Leases in memory answer
    // at once, and nobody else can take them while this process stands still.)
    const isHeld = asked >= this.leaseUntil && isPromise(renewal) ? false : await renewal;
    if (isHeld) this.leaseUntil = Math.max(this.leaseUntil, asked + leaseDuration);
    else if (isHeld === false) this.overtaken();
  }
}
