import { memoryBound, oneInProcess } from '../../basics/process';
import type { RecordedResponse } from '../responses/recorded-response';
import type { ResponseStore } from './store';

/**
 * Bytes of responses that the default store keeps; the oldest are evicted, which expire first. 64 MiB, or an eighth of
 * the memory that the process may use.
 */
export const MAX_BYTES = memoryBound(67_108_864, 1 / 8);
/** Most bytes of a body that the option may name: 3 MiB are left for the longest head and trailers. 61 MiB. */
export const LONGEST_BODY = 63_963_136;
/** Most bytes of a body that the default store of this process can keep. */
export const LONGEST_KEPT = memoryBound(LONGEST_BODY, 61 / 512);
/** Bytes of an entry besides its texts, as measured: many short ones fill V8's heap. */
const ENTRY_BYTES = 600;
/**
 * Bytes of a body that is kept as text, one character for each byte. A short Buffer is part of a block of 8 KiB, which
 * it would keep in memory.
 */
const SHORT = 4_096;

/** Returns the store of all middlewares without a `store` option: one in the process. */
export const defaultStore = (): MemoryResponses => oneInProcess('responses', () => new MemoryResponses());

/** A response as it is kept: its head as JSON, since V8 moves each object that lives on, and a short body as text. */
interface Kept {
  readonly cacheKey: string;
  readonly head: string;
  readonly body: Buffer | string;
  readonly bytes: number;
  /** In milliseconds of the monotonic clock. */
  readonly ends: number;
}

/**
 * Responses in the memory of this process, bounded and swept, under their tokens: no two runs have the same. What no
 * record points to any more is not read.
 */
export class MemoryResponses implements ResponseStore {
  private readonly responses = new Map<string, Kept>();
  private bytes = 0;
  /** Goes on where it has stopped: from its beginning, a map is read over all that it has lost. */
  private inOrder = this.responses.entries();
  private oldest = this.inOrder.next();

  /** As a Map has it, by which a store in memory is recognised: its leases are in memory, too. */
  get size(): number {
    return this.responses.size;
  }

  get(cacheKey: string, token: string): RecordedResponse | undefined {
    const kept = this.responses.get(token);
    // A lease store that mixes up its answers must not show a response to another caller.
    if (kept?.cacheKey !== cacheKey) return undefined;
    const { head, body } = kept;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    return Object.assign(JSON.parse(head) as RecordedResponse, { body: bytes });
  }

  set(cacheKey: string, token: string, response: RecordedResponse, ms: number): void {
    // (To copy the rest would take as long as to write it.)
    const { status, reason, headers, removed, trailers, body: whole } = response;
    const head = JSON.stringify({ status, reason, headers, removed, trailers });
    const body = whole.length > SHORT ? whole : whole.toString('latin1');
    const bytes = ENTRY_BYTES + cacheKey.length + token.length + head.length + body.length;
    const now = performance.now();
    this.bytes += bytes - (this.responses.get(token)?.bytes ?? 0);
    this.responses.set(token, { cacheKey, head, body, bytes, ends: now + ms });
    this.sweep(now);
  }

  delete(_cacheKey: string, token: string): void {
    this.bytes -= this.responses.get(token)?.bytes ?? 0;
    this.responses.delete(token);
  }

  /** Forgets the oldest, as long as they have expired or there are too many bytes. */
  private sweep(now: number): void {
    if (this.oldest.done) {
      this.inOrder = this.responses.entries();
      this.oldest = this.inOrder.next();
    }
    while (!this.oldest.done) {
      // (By their indexes: to take an array apart is to iterate over it.)
      const { 0: token, 1: kept } = this.oldest.value;
      if (kept.ends > now && this.bytes <= MAX_BYTES && this.responses.has(token)) return;
      this.delete('', token);
      this.oldest = this.inOrder.next();
    }
  }
}
