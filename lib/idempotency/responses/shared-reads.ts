import { memoryBound } from '../../basics/process-memory';

/** Milliseconds for which a result is shared after its arrival. */
const SHARED = 1_000;
/**
 * Bytes of results that are kept; the oldest are dropped first. 32 MiB, or a thirty-second of the memory that the
 * process may use.
 */
const MAX_BYTES = memoryBound(33_554_432, 1 / 32);

interface Read<T> {
  readonly result: Promise<T | undefined>;
  timer: NodeJS.Timeout;
  bytes: number;
}

/**
 * Shares reads between requests that ask for the same key at about the same time: the waiters of one run are notified
 * together, and a hundred copies of one response would keep the store and the event loop busy for seconds.
 */
export class SharedReads<T> {
  private readonly reads = new Map<string, Read<T>>();
  private bytes = 0;

  constructor(private readonly sizeOf: (result: T) => number) {}

  /**
   * @param ms milliseconds for which a read is shared while it is under way: not all requests wait for one that hangs.
   */
  read(key: string, ask: () => Promise<T | undefined>, ms: number): Promise<T | undefined> {
    const known = this.reads.get(key);
    if (known) return known.result;
    const read: Read<T> = {
      result: ask(),
      timer: setTimeout(() => {
        this.drop(key, read);
      }, ms).unref(),
      bytes: 0,
    };
    this.reads.set(key, read);
    read.result.then(
      result => {
        if (result === undefined) this.drop(key, read);
        else this.keep(key, read, this.sizeOf(result));
      },
      () => {
        this.drop(key, read);
      },
    );
    return read.result;
  }

  /** Drops the read of a key: its result is not shared any more. */
  forget(key: string): void {
    const read = this.reads.get(key);
    if (read) this.drop(key, read);
  }

  private keep(key: string, read: Read<T>, bytes: number): void {
    if (this.reads.get(key) !== read) return;
    clearTimeout(read.timer);
    read.timer = setTimeout(() => {
      this.drop(key, read);
    }, SHARED).unref();
    read.bytes = bytes;
    this.bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.reads) {
      if (this.bytes <= MAX_BYTES) break;
      if (freed > 0) this.forget(oldest);
    }
  }

  private drop(key: string, read: Read<T>): void {
    if (this.reads.get(key) !== read) return;
    clearTimeout(read.timer);
    this.reads.delete(key);
    this.bytes -= read.bytes;
  }
}
