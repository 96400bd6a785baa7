import { oneInProcess } from '../../basics/process';
import type { LeaseStore } from './lease-store';
import type { RunId } from './token';

/** A run of this process: its handler is at work, or its response is being stored in the background. */
interface LocalRun {
  readonly token: string;
  readonly phase: 'running' | 'storing';
}

/**
 * The runs of this process by lease store and cache key, and the responses that wait to be stored. Shared by all copies
 * of this module, since their middlewares may share a lease store.
 */
const local = oneInProcess('local-runs', () => ({
  runs: new WeakMap<LeaseStore, Map<string, LocalRun>>(),
  waiting: { responses: 0, bytes: 0 },
}));

/** Responses that may wait to be stored, and bytes of their bodies: each run of an outage would add one. */
const MOST = { responses: 1_000, bytes: 67_108_864 };

/** Returns the run of this process under a key, if there is one. */
export function localRun(cacheKey: string, leases: LeaseStore): LocalRun | undefined {
  return local.runs.get(leases)?.get(cacheKey);
}

/** Notes a run whose handler is at work. @returns a function that ends this. */
export function noteRunning(run: RunId, leases: LeaseStore): () => void {
  return note(run, 'running', leases);
}

/** Notes a run whose response waits to be stored, instead of its handler. @returns a function that ends this. */
export function noteStoring(run: RunId, bodyBytes: number, leases: LeaseStore): () => void {
  const forget = note(run, 'storing', leases);
  local.waiting.responses++;
  local.waiting.bytes += bodyBytes;
  return () => {
    forget();
    local.waiting.responses--;
    local.waiting.bytes -= bodyBytes;
  };
}

/** Returns the number of responses that wait to be stored if it is too high for another run; else 0. */
export function tooManyWaiting(): number {
  const { responses, bytes } = local.waiting;
  return responses >= MOST.responses || bytes >= MOST.bytes ? responses : 0;
}

function note({ cacheKey, token }: RunId, phase: LocalRun['phase'], leases: LeaseStore): () => void {
  const runs = local.runs.get(leases) ?? new Map<string, LocalRun>();
  local.runs.set(leases, runs);
  const run = { token, phase };
  runs.set(cacheKey, run);
  return () => {
    if (runs.get(cacheKey) === run) runs.delete(cacheKey);
  };
}
