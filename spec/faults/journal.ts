import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * What the handler says of itself: the truth about executions, which the library has no part in. `key` is the whole identity
 * of a request, since customers may use each other's idempotency keys; the library knows it as `cacheKey`.
 */
export type Execution = {
  readonly what: 'started' | 'ended';
  readonly at: number;
  readonly pid: number;
  readonly request: string;
  readonly key: string;
  readonly cacheKey: string;
  readonly run: string;
};

/** What the library told `onEvent` of a request, or the handler through its signal (`aborted`). */
export type Told = {
  readonly what: 'told';
  readonly at: number;
  readonly pid: number;
  readonly request: string;
  readonly cacheKey: string;
  readonly kind: string;
};

/** A whole answer that a client got. `digest` is over status, reason, header lines, body and trailers; `replayed` is what it says of itself. */
export type Answer = {
  readonly what: 'answered';
  readonly at: number;
  readonly key: string;
  readonly run: string;
  readonly status: number;
  readonly digest: string;
  readonly owner: string;
  readonly replayed: boolean;
};

/** Something that was done to a process, to the store or to the way between them, from `at` to `until`. */
export type Fault = {
  readonly what: 'fault';
  readonly at: number;
  readonly until: number;
  readonly kind: string;
  readonly pid?: number;
};

/** What must never be seen, reported where it is seen: an unhandled rejection, a request without an answer, a process that ends by itself. */
export type Breach = {
  readonly what: 'breach';
  readonly at: number;
  readonly detail: string;
  readonly key?: string;
  /** When it began, if it took some time. */
  readonly from?: number;
};

/** A process, or without a `pid` the store or the way there, did nothing for `ms` milliseconds although nobody had stopped it. */
export type Stall = { readonly what: 'stalled'; readonly at: number; readonly pid?: number; readonly ms: number };

/** A turn of the run: the faults have ended, or every key has been answered since. */
export type Phase = { readonly what: 'phase'; readonly at: number; readonly name: 'calm' | 'settled' };

/** What the orders hold at the end, where handlers commit them with their response. */
export type Row = { readonly what: 'row'; readonly at: number; readonly key: string; readonly run: string };

export type Entry = Row | Execution | Told | Answer | Fault | Breach | Stall | Phase;

/** Milliseconds; the processes of one machine read the same clock. */
export const now = (): number => performance.timeOrigin + performance.now();

type WithoutTime<T> = T extends Entry ? Omit<T, 'at'> & { readonly at?: number } : never;

/**
 * A file that several processes append to, one JSON line at a time; what a killed process has written stays. `kill -9` may
 * cut a write where a page of the file ends, so each entry begins on a line of its own.
 */
export class Journal {
  private readonly file: number;
  private isClosed = false;

  constructor(path: string) {
    this.file = openSync(path, 'a');
  }

  write(entry: WithoutTime<Entry>): void {
    if (this.isClosed) return;
    writeSync(this.file, `\n${JSON.stringify({ at: now(), ...entry })}\n`);
  }

  close(): void {
    this.isClosed = true;
    closeSync(this.file);
  }
}

/** @throws Error for a line that was cut although its process cannot have been killed. */
export async function readJournal(path: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  const cut: string[] = [];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const entry = line === '' ? undefined : entryIn(line);
    if (entry) entries.push(entry);
    else if (line !== '') cut.push(line);
  }
  const kills = entries.filter(entry => entry.what === 'fault' && entry.kind.startsWith('server killed')).length;
  if (cut.length > kills)
    throw new Error(`The journal has ${cut.length} lines that are no JSON, after ${kills} kills:\n${cut.join('\n')}`);
  return entries;
}

function entryIn(line: string): Entry | undefined {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return undefined;
  }
}
