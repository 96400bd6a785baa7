import { LRUCache } from 'lru-cache';
import { memoryBound, oneInProcess } from '../../basics/process';
import type { RecordedResponse } from '../responses/recorded-response';
import type { ResponseStore } from './responses';

/**
 * Bytes of responses that the default store keeps; the least recently used are evicted. 64 MiB, or an eighth of the
 * memory that the process may use.
 */
const MAX_BYTES = memoryBound(67_108_864, 1 / 8);
/** Most bytes of a body that the option may name: 3 MiB are left for the longest head and trailers. 61 MiB. */
export const LONGEST_BODY = 63_963_136;
/** Most bytes of a body that the default store of this process can keep. */
export const LONGEST_KEPT = memoryBound(LONGEST_BODY, 61 / 512);
/** Bytes of an entry besides its key, headers and body, as measured: many short ones fill V8's heap. */
const ENTRY_BYTES = 680;
/** Bytes of a header line besides its texts, as measured. */
const LINE_BYTES = 155;
/**
 * Bytes of a body that is kept as text, one character for each byte. A short Buffer is part of a block of 8 KiB, which
 * it would keep in memory.
 */
const SHORT = 4_096;

/** Returns the store of all middlewares without a `store` option: one in the process. */
export function defaultStore(): MemoryResponses {
  return oneInProcess('responses', () => new MemoryResponses());
}

/** A response as it is kept: a short body as text. */
interface Kept {
  readonly cacheKey: string;
  /** With an empty body. */
  readonly head: RecordedResponse;
  readonly body: Buffer | string;
}

const NOTHING = Buffer.alloc(0);

/** Responses in the memory of this process, bounded, under their tokens: no two runs have the same. */
export class MemoryResponses implements ResponseStore {
  private readonly responses = new LRUCache<string, Kept>({
    maxSize: MAX_BYTES,
    sizeCalculation: sizeOf,
    // It would set a timer every millisecond to read the clock less often.
    ttlResolution: 0,
  });

  /** As a Map has it, by which a store in memory is recognised: its leases are in memory, too. */
  get size(): number {
    return this.responses.size;
  }

  get(cacheKey: string, token: string): RecordedResponse | undefined {
    const kept = this.responses.get(token);
    // A lease store that mixes up its answers must not show a response to another caller.
    if (kept?.cacheKey !== cacheKey) return undefined;
    const { head, body } = kept;
    return { ...head, body: typeof body === 'string' ? Buffer.from(body, 'latin1') : body };
  }

  set(cacheKey: string, token: string, response: RecordedResponse, ms: number): void {
    const { body: bytes } = response;
    const body = bytes.length > SHORT ? bytes : bytes.toString('latin1');
    this.responses.set(token, { cacheKey, head: { ...response, body: NOTHING }, body }, { ttl: ms });
  }

  delete(_cacheKey: string, token: string): void {
    this.responses.delete(token);
  }
}

function sizeOf({ cacheKey, head: { headers, trailers }, body }: Kept, token: string): number {
  let bytes = ENTRY_BYTES + cacheKey.length + token.length + body.length;
  for (const lines of [headers, trailers])
    for (const [name, value] of lines) bytes += LINE_BYTES + name.length + String(value).length;
  return bytes;
}
