import type { Acquisition, RunFacts, RunPage, RunQuery, RunRecord } from 'bindonce';

export interface LeaseStore {
  acquire(key: string, token: string, ms: number, about?: RunFacts): Acquisition | Promise<Acquisition>;
  renew(key: string, token: string, ms: number): boolean | Promise<boolean>;
  complete(key: string, token: string, ms: number, status?: number): boolean | Promise<boolean>;
  release(key: string, token: string): boolean | Promise<boolean>;
  // Optional
  watch?(key: string, onChange: () => void): Promise<() => void>;                              // else duplicates poll
  settle?(key: string, token: string, outcome: 'ran' | 'did-not-run', ms: number): boolean | Promise<boolean>;   // whenOwnerDies: 'refuse'
  salt?(): string | Promise<string>;                                                           // these three: once.keys
  list?(query: RunQuery): Promise<RunPage>;
  get?(key: string): Promise<RunRecord | undefined>;
}
