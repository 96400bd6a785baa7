import type { Awaitable } from '../../basics/awaitable';
import { objectWith } from '../../options/check';
import type { LeaseStore } from '../leases/lease-store';
import type { RecordedResponse } from '../responses/recorded-response';

/** Leases and responses in one place. */
export interface Store {
  readonly leases: LeaseStore;
  readonly responses: ResponseStore;
  /**
   * Optional: makes the one statement that `commitWith` runs in a transaction of the application. It marks the run of
   * `token` done, if the token still has the key, keeps its response, and returns a row; else it returns none.
   * @param ms milliseconds that the run is recorded; its response must be kept a little longer.
   */
  commit?(
    key: string,
    token: string,
    response: RecordedResponse,
    ms: number,
  ): { readonly text: string; readonly values: string[] };
}

/** Responses, under the cache key and the token of the run that made them. A store in memory answers at once. */
export interface ResponseStore {
  /**
   * @param ms milliseconds that the request waits.
   * @returns undefined if there is no response, or something else in its place.
   */
  get(cacheKey: string, token: string, ms: number): Awaitable<RecordedResponse | undefined>;
  /** @param ms milliseconds that the response is kept. */
  set(cacheKey: string, token: string, response: RecordedResponse, ms: number): Awaitable<void>;
  delete(cacheKey: string, token: string): Awaitable<void>;
}

/** Returns true for an object with the methods of both. */
export function isStore(value: unknown): value is Store {
  const { leases, responses } = Object(value) as Partial<Store>;
  const isLeaseStore = objectWith('', 'acquire', 'renew', 'complete', 'release').accepts(leases);
  return isLeaseStore && objectWith('', 'get', 'set', 'delete').accepts(responses);
}

/** Responses in a store that keeps text. */
export abstract class TextResponses implements ResponseStore {
  /** Reads that are under way, and when they began. */
  private readonly reads = new Map<string, { at: number; result: Promise<RecordedResponse | undefined> }>();

  protected abstract read(cacheKey: string, token: string): Awaitable<unknown>;
  protected abstract write(cacheKey: string, token: string, text: string, ms: number): Awaitable<unknown>;
  abstract delete(cacheKey: string, token: string): Promise<void>;

  /**
   * Reads a response. Requests that ask for it at the same time share one read, and one Buffer: the waiters of one run
   * ask together, and a hundred copies of it would keep the store and the event loop busy for seconds. A read that
   * takes half of their time is not shared any more: it may hang.
   */
  get(cacheKey: string, token: string, ms: number): Promise<RecordedResponse | undefined> {
    const name = nameOf(cacheKey, token);
    const now = performance.now();
    const pending = this.reads.get(name);
    if (pending && now - pending.at < ms / 2) return pending.result;
    const look = async (): Promise<RecordedResponse | undefined> => fromStored(name, await this.read(cacheKey, token));
    const result = look().finally(() => {
      if (this.reads.get(name)?.result === result) this.reads.delete(name);
    });
    this.reads.set(name, { at: now, result });
    return result;
  }

  async set(cacheKey: string, token: string, response: RecordedResponse, ms: number): Promise<void> {
    await this.write(cacheKey, token, toStored(nameOf(cacheKey, token), response), ms);
  }
}

/** The name that a stored response gives itself. */
export const nameOf = (cacheKey: string, token: string): string => `${cacheKey}:${token}`;

/** Of the text of a stored response, which is JSON. */
const VERSION = 1;

/**
 * Writes a response as text, which every store and every serialiser supports. (Keyv's own takes ten times as long for
 * the object, 13 µs.) It names its own key, because a client of the store that has lost count of its answers returns
 * the answer to another question.
 */
export function toStored(key: string, response: RecordedResponse): string {
  return JSON.stringify({ version: VERSION, key, ...response, body: response.body.toString('base64') });
}

/**
 * Reads a stored response; node checks the text of its head when it is sent.
 * @returns undefined for anything else.
 * @throws Error for the response of another key: it is the answer to another question, so it says nothing of this one.
 */
export function fromStored(key: string, stored: unknown): RecordedResponse | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(String(stored));
  } catch {
    return undefined;
  }
  const { version, key: own, body, ...response } = Object(parsed) as RecordedResponse & Record<string, unknown>;
  if (version !== VERSION) return undefined;
  if (own !== key)
    throw new Error(
      `The store was asked for the response of ${key}, and answered with that of ${String(own)}: its client has lost ` +
        'count of its answers. Connect it anew.',
    );
  return { ...response, body: Buffer.from(String(body), 'base64') };
}
