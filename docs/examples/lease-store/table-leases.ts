// Leases in any database that has a conditional write. They are counted by the clocks of your processes: keep these
// synchronised. npm install bindonce
import { randomUUID } from 'node:crypto';
import type { Acquisition, LeaseStore } from 'bindonce';

/** One row for each key. `expires` is in milliseconds since 1970; rows that have expired may be deleted. */
export interface Row {
  token: string;
  done: boolean;
  expires: number;
  version: string;
}

/** The two calls to write for your database. `read` must see every earlier write. */
export interface Table {
  read(key: string): Promise<Row | undefined>;
  /** Writes the row if the stored one still has this version (undefined: if there is none); else resolves to false. */
  write(key: string, row: Row, version: string | undefined): Promise<boolean>;
}

/** What a step answers, and the row that it writes, if any. */
interface Step<T> {
  answer: T;
  next?: Omit<Row, 'version'>;
}

export class TableLeases implements LeaseStore {
  constructor(private readonly table: Table) {}

  acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    return this.step<Acquisition>(key, (row, now) => {
      if (row?.done) return { answer: { kind: 'done', token: row.token } };
      if (row && row.token !== token)
        return { answer: { kind: 'running', token: row.token, msLeft: row.expires - now } };
      return { answer: { kind: 'acquired' }, next: { token, done: false, expires: now + ms } };
    });
  }

  renew(key: string, token: string, ms: number): Promise<boolean> {
    return this.step(key, (row, now) =>
      row?.token === token && !row.done
        ? { answer: true, next: { token, done: false, expires: now + ms } }
        : { answer: false },
    );
  }

  complete(key: string, token: string, ms: number): Promise<boolean> {
    return this.step(key, (row, now) =>
      row && row.token !== token ? { answer: false } : { answer: true, next: { token, done: true, expires: now + ms } },
    );
  }

  release(key: string, token: string): Promise<boolean> {
    return this.step(key, row =>
      row?.token === token ? { answer: true, next: { ...row, expires: 0 } } : { answer: false },
    );
  }

  /** Reads, decides, and writes on condition that nothing was written in between; otherwise decides again. */
  private async step<T>(key: string, decide: (row: Row | undefined, now: number) => Step<T>): Promise<T> {
    for (;;) {
      const stored = await this.table.read(key);
      const now = Date.now();
      const { answer, next } = decide(stored && stored.expires > now ? stored : undefined, now);
      // A random version: a count would start again after the row was deleted, and an old writer could pass for a
      // new one.
      if (!next || (await this.table.write(key, { ...next, version: randomUUID() }, stored?.version))) return answer;
    }
  }
}
