import { LRUCache } from 'lru-cache';
import { oneInProcess } from '../../basics/one-in-process';
import { SweepInterval } from '../stores/sweep-interval';
import type { RecordedResponse } from './recorded-response';
import type { Responses } from './response-store';

/** Bytes of responses that the default store keeps; the least recently used are evicted. 128 MiB. */
const MAX_BYTES = 134_217_728;
/** Bytes of an entry besides its key, headers and body, as measured. */
const ENTRY_BYTES = 680;
/** Bytes of a header line besides its texts, as measured. */
const LINE_BYTES = 155;
/** Milliseconds between two sweeps of expired responses. */
const SWEEP_INTERVAL = 30_000;
/**
 * Bytes of a body that is kept as text, one character for each byte. A short Buffer is part of a block of 8 KiB, which
 * it would keep in memory.
 */
const SHORT = 4_096;

/** Returns the store of all middlewares without a `store` option: one in the process, bounded and swept. */
export function defaultStore(): DefaultStore {
  return oneInProcess('responses', () => new DefaultStore());
}

/** A response as it is kept: as it was recorded, but for a short body. There is nothing to serialise. */
type Kept = Omit<RecordedResponse, 'body'> & { readonly body: string | Buffer };

/** Responses in the memory of this process. */
export class DefaultStore implements Responses {
  private readonly responses = new LRUCache<string, Kept>({
    maxSize: MAX_BYTES,
    sizeCalculation: bytesOf,
    // It would set a timer every millisecond to read the clock less often.
    ttlResolution: 0,
  });
  private readonly sweeping = new SweepInterval(SWEEP_INTERVAL, () => this.sweep());

  get size(): number {
    return this.responses.size;
  }

  read(cacheKey: string, token: string): RecordedResponse | undefined {
    const kept = this.responses.get(`${cacheKey}:${token}`);
    return kept && { ...kept, body: typeof kept.body === 'string' ? Buffer.from(kept.body, 'latin1') : kept.body };
  }

  write(cacheKey: string, token: string, response: RecordedResponse, ms: number): void {
    const { body } = response;
    const kept: Kept = body.length > SHORT ? response : { ...response, body: body.toString('latin1') };
    this.responses.set(`${cacheKey}:${token}`, kept, { ttl: ms });
    this.sweeping.start();
  }

  remove(cacheKey: string, token: string): void {
    this.responses.delete(`${cacheKey}:${token}`);
  }

  clear(): void {
    this.responses.clear();
  }

  private sweep(): boolean {
    this.responses.purgeStale();
    return this.responses.size > 0;
  }
}

function bytesOf({ headers, trailers, body }: Kept, key: string): number {
  let bytes = ENTRY_BYTES + key.length + body.length;
  for (const lines of [headers, trailers])
    for (const [name, value] of lines) bytes += LINE_BYTES + name.length + String(value).length;
  return bytes;
}
