import type { Awaitable } from '../../basics/awaitable';
import type { Acquisition, LeaseStore } from './lease-store';
import type { RunFacts, RunPage, RunQuery, RunRecord } from './runs';

/** The run that has a key: its lease, or the record that it is done. Times are those of the store's clock. */
export interface HeldRun {
  readonly token: string;
  readonly isDone: boolean;
  readonly expires: number;
  /** Until then it is unknown what the run has done if its lease has ended. */
  readonly unknownUntil: number;
  readonly status?: number | undefined;
  readonly about?: RunFacts | undefined;
}

/** Decides on the run of a key, if that has one which is not over, and may put another run in its place, or none. */
export type Decision<T> = (run: HeldRun | undefined, now: number, put: (next?: HeldRun) => void) => T;

/** Leases of a store that reads and replaces the run of one key in one atomic step. */
export abstract class RecordLeases implements LeaseStore {
  protected abstract step<T>(key: string, decide: Decision<T>): Awaitable<T>;
  abstract salt(): Awaitable<string>;
  abstract list(query: RunQuery): Promise<RunPage>;
  abstract get(key: string): Promise<RunRecord | undefined>;

  acquire(key: string, token: string, ms: number, about?: RunFacts): Awaitable<Acquisition> {
    return this.step<Acquisition>(key, (run, now, put) => {
      if (run?.isDone) return { kind: 'done', token: run.token };
      if (run && run.token !== token)
        return isUnknown(run, now)
          ? { kind: 'unknown', token: run.token }
          : { kind: 'running', token: run.token, msLeft: Math.max(0, run.expires - now) };
      const unknownUntil = now + (about?.keepUnknown ?? 0);
      put({ token, isDone: false, expires: now + ms, unknownUntil, about: about ?? run?.about });
      return { kind: 'acquired' };
    });
  }

  renew(key: string, token: string, ms: number): Awaitable<boolean> {
    return this.step(key, (run, now, put) => {
      if (run?.token !== token || run.isDone || isUnknown(run, now)) return false;
      put({ ...run, expires: now + ms });
      return true;
    });
  }

  complete(key: string, token: string, ms: number, status?: number): Awaitable<boolean> {
    return this.step(key, (run, now, put) => {
      if (run && run.token !== token) return false;
      put({
        token,
        isDone: true,
        expires: now + ms,
        unknownUntil: 0,
        status: status ?? run?.status,
        about: run?.about,
      });
      return true;
    });
  }

  release(key: string, token: string): Awaitable<boolean> {
    return this.step(key, (run, _now, put) => {
      if (run?.token !== token) return false;
      put();
      return true;
    });
  }
}

export const isUnknown = ({ isDone, expires, unknownUntil }: HeldRun, now: number): boolean =>
  !isDone && expires <= now && unknownUntil > now;
