import { setTimeout as pause } from 'node:timers/promises';
import type { Awaitable } from '../../basics/awaitable';
import { oneInProcess } from '../../basics/process';
import { MAX_TIMER } from '../../options/check';
import type { RecordedResponse } from '../responses/recorded-response';
import { backingStoreOf, isMapLike, keyInKeyv, layersUnder, refuseOtherNames, type KeyvLike } from './keyv-like';
import { BorrowedClient } from './redis/client';

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
  /** Returns the error that the store has reported last, if it did so in the last ten seconds. */
  recentError?(): unknown;
}

/** In milliseconds; a client of Redis reports an error with each try to connect, at least every few seconds. */
const RECENT = 10_000;
/** Milliseconds until a response that was not found is looked for again: a replica may not have it yet. */
const SECOND_LOOK = 100;

/** Shared by all copies of this module: two middlewares with one Keyv have equal options. */
const stores = oneInProcess('response-stores', () => new WeakMap<KeyvLike, ResponseStore>());

/** Returns the responses in a Keyv; the same object for every middleware that uses it. */
export function responsesIn(keyv: KeyvLike): ResponseStore {
  const responses = stores.get(keyv) ?? new KeyvResponses(keyv);
  stores.set(keyv, responses);
  return responses;
}

/** Stores responses in Keyv. */
class KeyvResponses implements ResponseStore {
  private lastError: { readonly error: unknown; readonly at: number } | undefined;
  /** Reads that are under way, and when they began. */
  private readonly reads = new Map<
    string,
    { readonly at: number; readonly result: ReturnType<KeyvResponses['look']> }
  >();
  private readonly isInMemory: boolean;
  private readonly client: BorrowedClient | undefined;

  /**
   * Keyv hides failures by default: an outage would look like a missing response, and a failed write like a successful
   * one. Keyv 5 can be configured to throw; Keyv 6 cannot, but emits an event for each failure.
   */
  constructor(private readonly keyv: KeyvLike) {
    for (const layer of [keyv, ...layersUnder(keyv)]) if ('throwOnErrors' in layer) layer.throwOnErrors = true;
    const store = backingStoreOf(keyv);
    this.isInMemory = isMapLike(store);
    this.client = BorrowedClient.of(store);
    if (this.client) refuseOtherNames(keyv);
    keyv.on('error', error => {
      this.lastError = { error, at: performance.now() };
    });
  }

  /**
   * Reads a response. Requests that ask for it at the same time share one read, and one Buffer: the waiters of one run
   * ask together, and a hundred copies of it would keep the store and the event loop busy for seconds. A read that
   * takes half of their time is not shared any more: it may hang.
   */
  get(cacheKey: string, token: string, ms: number): Promise<RecordedResponse | undefined> {
    const key = `${cacheKey}:${token}`;
    const now = performance.now();
    const pending = this.reads.get(key);
    if (pending && now - pending.at < ms / 2) return pending.result;
    const forget = (): void => {
      if (this.reads.get(key) === read) this.reads.delete(key);
    };
    const read = { at: now, result: this.look(key).finally(forget) };
    this.reads.set(key, read);
    return read.result;
  }

  async set(cacheKey: string, token: string, response: RecordedResponse, ms: number): Promise<void> {
    const key = `${cacheKey}:${token}`;
    if (!(await this.openKeyv().set(keyInKeyv(this.keyv, key), toStored(key, response), ms)))
      throw new Error("Keyv.set() returned false: the response was not stored. See the 'error' events of this Keyv.");
    // A Map keeps what has expired until it is read, and no request reads it any more.
    if (this.isInMemory && ms <= MAX_TIMER)
      setTimeout(() => {
        this.delete(cacheKey, token).catch(() => undefined);
      }, ms).unref();
  }

  async delete(cacheKey: string, token: string): Promise<void> {
    await this.openKeyv().delete(keyInKeyv(this.keyv, `${cacheKey}:${token}`));
  }

  recentError(): unknown {
    return this.lastError && performance.now() - this.lastError.at < RECENT ? this.lastError.error : undefined;
  }

  /** Looks for a response, twice: that there is none is final, because the handler does not run again. */
  private async look(key: string): Promise<RecordedResponse | undefined> {
    const response = fromStored(key, await this.ask(key));
    if (response || this.isInMemory) return response;
    await pause(SECOND_LOOK, undefined, { ref: false });
    return fromStored(key, await this.ask(key));
  }

  private async ask(key: string): Promise<unknown> {
    const { lastError } = this;
    let stored: unknown;
    try {
      stored = await this.openKeyv().get(keyInKeyv(this.keyv, key));
    } catch (error) {
      // Text that is no JSON stays so.
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
    if (stored === undefined && this.lastError !== lastError && !('throwOnErrors' in this.keyv))
      throw new Error("Keyv.get() failed. See the 'error' events of this Keyv.");
    return stored;
  }

  /** @throws Error if the client is closed: a call of Keyv would open it again, and the process would never end. */
  private openKeyv(): KeyvLike {
    if (!this.client?.isClosed) return this.keyv;
    throw new Error(
      'The client of the store is closed. Close it only when server.close() has finished and all handlers have ended.',
    );
  }
}

/** Of the text of a stored response, which is JSON. */
const VERSION = 1;

/**
 * Writes a response as it is stored in Keyv: as text, which every serialiser supports. (Keyv's own takes ten times as
 * long for the object, 13 µs.) It names its own key, because a client of the store that has lost count of its answers
 * returns the answer to another question.
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
