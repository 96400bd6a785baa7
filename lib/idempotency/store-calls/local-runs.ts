import { oneInProcess } from '../../basics/one-in-process';
import type { LeaseStore } from '../leases/lease-store';
import type { RunId } from '../leases/token';

/** What this process does for a run: its handler is at work, or its response is being stored. */
type Phase = 'running' | 'storing';

/** A run of this process. */
interface LocalRun {
  readonly token: string;
  readonly phase: Phase;
}

/** Tokens of runs by cache key, for each lease store. */
type Tokens = WeakMap<LeaseStore, Map<string, string>>;

/** The runs of this process. Shared by all copies of this module, since their middlewares may share a lease store. */
const tokens = oneInProcess<Readonly<Record<Phase, Tokens>>>('local-runs', () => ({
  running: new WeakMap(),
  storing: new WeakMap(),
}));

/** Returns the run of this process under a key, if there is one. */
export function localRun(cacheKey: string, leases: LeaseStore): LocalRun | undefined {
  for (const phase of ['storing', 'running'] as const) {
    const token = tokens[phase].get(leases)?.get(cacheKey);
    if (token !== undefined) return { token, phase };
  }
  return undefined;
}

/** Notes a run of this process. @returns a function that ends this; later calls of it do nothing. */
export function noteRun({ cacheKey, token }: RunId, phase: Phase, leases: LeaseStore): () => void {
  const noted = tokens[phase].get(leases) ?? new Map<string, string>();
  tokens[phase].set(leases, noted.set(cacheKey, token));
  return () => {
    if (noted.get(cacheKey) === token) noted.delete(cacheKey);
  };
}
