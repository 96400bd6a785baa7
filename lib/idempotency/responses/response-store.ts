import type { Keyv } from 'keyv';
import type { RecordedResponse } from './recorded-response';

/** A response as it lies in Keyv: plain JSON, since not every serialiser keeps a Buffer. */
interface StoredResponse extends Omit<RecordedResponse, 'body'> {
  readonly version: 1;
  /** Base64. */
  readonly body: string;
}

const stores = new WeakMap<Keyv, ResponseStore>();

/** The responses in a Keyv; the same object for every middleware that uses it. */
export function responsesIn(keyv: Keyv): ResponseStore {
  const existing = stores.get(keyv);
  if (existing) return existing;
  const created = new ResponseStore(keyv);
  stores.set(keyv, created);
  return created;
}

/** Where responses live: in Keyv, under the cache key and the token of the run that made them. */
export class ResponseStore {
  private failures = 0;

  /**
   * Keyv hides failures unless told otherwise: an outage would look like a response that is not there, and a failed write
   * like a written one. Keyv 5 can be told to throw; Keyv 6 cannot, but announces each failure.
   */
  constructor(private readonly keyv: Keyv) {
    for (const layer of [keyv, keyv.store as object]) if ('throwOnErrors' in layer) layer.throwOnErrors = true;
    keyv.on('error', () => { this.failures++; });
  }

  /** @returns undefined when the response is not there or not readable. */
  async read(cacheKey: string, token: string): Promise<RecordedResponse | undefined> {
    const { failures } = this;
    const stored: unknown = await this.keyv.get(`${cacheKey}:${token}`);
    if (stored === undefined && failures !== this.failures && !('throwOnErrors' in this.keyv)) throw new Error('The store failed to read');
    return isStoredResponse(stored) ? { ...stored, body: Buffer.from(stored.body, 'base64') } : undefined;
  }

  /** @param ms milliseconds that the response is kept. */
  async write(cacheKey: string, token: string, response: RecordedResponse, ms: number): Promise<void> {
    const stored: StoredResponse = { ...response, version: 1, body: response.body.toString('base64') };
    if (!await this.keyv.set(`${cacheKey}:${token}`, stored, ms)) throw new Error('The store failed to write');
  }

  async remove(cacheKey: string, token: string): Promise<void> {
    await this.keyv.delete(`${cacheKey}:${token}`);
  }
}

function isStoredResponse(value: unknown): value is StoredResponse {
  const stored = value as Partial<StoredResponse> | null | undefined;
  return typeof stored === 'object' && stored !== null && stored.version === 1 && typeof stored.status === 'number'
    && Array.isArray(stored.headers) && Array.isArray(stored.trailers) && typeof stored.body === 'string';
}
