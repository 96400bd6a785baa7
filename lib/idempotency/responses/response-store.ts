import { oneInProcess } from '../../basics/one-in-process';
import {
  backingStoreOf,
  DEFAULT_NAMESPACE,
  keyInKeyv,
  layersUnder,
  nameOnRedis,
  namespaceOf,
  type KeyvLike,
} from '../stores/keyv-like';
import { borrowFrom } from '../stores/redis/client';
import { expiredResponsesIn, type ExpiredResponses } from './expired-responses';
import type { RecordedResponse } from './recorded-response';
import { SharedReads } from './shared-reads';
import { fromStored, toStored, type Expected } from './stored-response';

/** Responses, under the cache key and the token of the run that made them. A store in memory answers at once. */
export interface Responses {
  /**
   * @param ms milliseconds that the request waits.
   * @returns undefined if the response is missing, or is not one that could have been recorded.
   */
  read(
    cacheKey: string,
    token: string,
    { method, maxBytes }: Omit<Expected, 'key'>,
    ms: number,
  ): RecordedResponse | undefined | Promise<RecordedResponse | undefined>;
  /** @param ms milliseconds that the response is kept. */
  write(cacheKey: string, token: string, response: RecordedResponse, ms: number): void | Promise<void>;
  remove(cacheKey: string, token: string): void | Promise<void>;
  /** Returns the error that the store has reported last, if it did so in the last ten seconds. */
  recentError?(): unknown;
}

/** Shared by all copies of this module: two middlewares with one Keyv have equal options. */
const stores = oneInProcess('response-stores', () => new WeakMap<KeyvLike, ResponseStore>());

/** In milliseconds; a client of Redis reports an error with each try to connect, at least every few seconds. */
const RECENT = 10_000;

/** Returns the responses in a Keyv; the same object for every middleware that uses it. */
export function responsesIn(keyv: KeyvLike): ResponseStore {
  const existing = stores.get(keyv);
  if (existing) return existing;
  const created = new ResponseStore(keyv);
  stores.set(keyv, created);
  return created;
}

/** Stores responses in Keyv. */
export class ResponseStore implements Responses {
  private failures = 0;
  private lastError: { readonly error: unknown; readonly at: number } | undefined;
  private readonly reads = new SharedReads<RecordedResponse>(({ body }) => body.length);
  private readonly expired: ExpiredResponses | undefined;

  /**
   * Keyv hides failures by default: an outage would look like a missing response, and a failed write like a successful
   * one. Keyv 5 can be configured to throw; Keyv 6 cannot, but emits an event for each failure.
   */
  constructor(private readonly keyv: KeyvLike) {
    for (const layer of [keyv, ...layersUnder(keyv)]) if ('throwOnErrors' in layer) layer.throwOnErrors = true;
    this.expired = expiredResponsesIn(keyv);
    if (borrowFrom(backingStoreOf(keyv))) refuseOtherNames(keyv);
    keyv.on('error', error => {
      this.failures++;
      this.lastError = { error, at: performance.now() };
    });
  }

  /**
   * Reads a response. Requests that ask for the same one at about the same time share one call to the store, and one
   * Buffer.
   * @param ms requests that come in the second half of this time make a call of their own, so that a read that hangs
   * does not fail them, too.
   */
  read(
    cacheKey: string,
    token: string,
    { method, maxBytes }: Omit<Expected, 'key'>,
    ms: number,
  ): Promise<RecordedResponse | undefined> {
    const key = `${cacheKey}:${token}`;
    return this.reads.read(key, () => this.ask({ key, method, maxBytes }), ms / 2);
  }

  async write(cacheKey: string, token: string, response: RecordedResponse, ms: number): Promise<void> {
    const key = `${cacheKey}:${token}`;
    const name = keyInKeyv(this.keyv, key);
    this.expired?.written(name, ms);
    if (!(await this.keyv.set(name, toStored(key, response), ms)))
      throw new Error("Keyv.set() returned false: the response was not stored. See the 'error' events of this Keyv.");
  }

  async remove(cacheKey: string, token: string): Promise<void> {
    const key = `${cacheKey}:${token}`;
    this.reads.forget(key);
    const name = keyInKeyv(this.keyv, key);
    await this.keyv.delete(name);
    this.expired?.removed(name);
  }

  recentError(): unknown {
    return this.lastError && performance.now() - this.lastError.at < RECENT ? this.lastError.error : undefined;
  }

  private async ask(expected: Expected): Promise<RecordedResponse | undefined> {
    const { failures, keyv } = this;
    const stored: unknown = await keyv.get(keyInKeyv(keyv, expected.key)).catch(nullIfDamaged);
    if (stored === undefined && failures !== this.failures && !('throwOnErrors' in keyv) && !isNoText(this.lastError))
      throw new Error("Keyv.get() failed. See the 'error' events of this Keyv.");
    return fromStored(stored, expected);
  }
}

/**
 * Keyv 6 puts its namespace in front of the keys of `@keyv/valkey` itself, Keyv 5 gives it to the adapter; the same may
 * hold for the adapter of an application.
 * @throws TypeError if not the adapter alone has the namespace.
 */
function refuseOtherNames(keyv: KeyvLike): void {
  const [adapter, bridge] = [...layersUnder(keyv)].reverse() as Partial<KeyvLike>[];
  if ((adapter?.namespace && !bridge?.namespace) || nameOnRedis(keyv, '') !== undefined) return;
  throw new TypeError(
    `idempotency: store is a Keyv on ${adapter?.constructor.name}, under which Keyv 5 and 6 give responses different ` +
      'names. Give the namespace to the adapter alone: ' +
      `adapter.namespace = ${JSON.stringify(namespaceOf(keyv) ?? DEFAULT_NAMESPACE)}; store = new Keyv(adapter).`,
  );
}

/** Returns null for text that is not JSON, undefined for a value that is not text: a second read would not help. */
function nullIfDamaged(error: unknown): null | undefined {
  if (error instanceof SyntaxError) return null;
  if (isNoText({ error })) return undefined;
  throw error;
}

/** Returns true for the error of Redis about a list, a hash or another type under the key of a text. */
const isNoText = (reported: { readonly error: unknown } | undefined): boolean =>
  reported?.error instanceof Error && reported.error.message.startsWith('WRONGTYPE');
