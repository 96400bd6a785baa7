import { memory, ofThisPage, orMemory, type KeyStorage } from './key-storage.js';

/** Options of `idempotentFetch()`. */
export interface IdempotentFetchOptions {
  /**
   * Where keys are kept: an object with `claim` and `remove`, or `'memory'` of the page or process. Default: IndexedDB;
   * without it, memory, with a warning.
   */
  readonly storage?: KeyStorage | 'memory';
  /** The beginning of all names in `storage`. Default `'bindonce:'`. */
  readonly prefix?: string;
  /**
   * How long an unfinished operation keeps its key, in milliseconds from its first attempt. Default 86,400,000 (a day).
   */
  readonly keyLifetime?: number;
  /** `'reject'` sends nothing; `'memory'` goes on with a key that a reload loses. Default `'reject'`. */
  readonly whenStorageFails?: 'reject' | 'memory';
  /** Request headers that are part of an operation, as on the server. */
  readonly additionalHeaders?: readonly string[];
  /** The header that carries the key. Default `'Idempotency-Key'`. */
  readonly headerName?: string;
  /** The response header that marks a replay. Default `'Idempotent-Replayed'`. */
  readonly replayedHeader?: string;
  /** How long a call may take with all attempts and pauses, in milliseconds. Default 60,000. */
  readonly deadline?: number;
  /** How long one attempt may take, in milliseconds: longer than the server's `waitTimeout`. Default 15,000. */
  readonly attemptTimeout?: number;
  /** The longest pause after the first attempt, in milliseconds; it doubles with each attempt. Default 200. */
  readonly baseDelay?: number;
  /** The longest pause, in milliseconds, unless `Retry-After` is longer. Default 10,000. */
  readonly maxDelay?: number;
  /** Called before each pause, for a message to the user. What it throws ends the call; the key is kept. */
  readonly onRetry?: (info: RetryInfo) => void;
  /** The function that sends. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** What `onRetry` is told. */
export interface RetryInfo {
  /** The number of the attempt that has failed; the first is 1. */
  readonly attempt: number;
  /** The idempotency key. */
  readonly key: string;
  /** Milliseconds until the next attempt. One that got no answer is repeated sooner if the page is online again. */
  readonly pause: number;
  /** The answer that asks for another attempt; read a `clone()` of it. Undefined if there was none. */
  readonly response: Response | undefined;
  /** Why there was no answer. */
  readonly error: unknown;
}

/** Options with their defaults. */
export type ResolvedOptions = Required<Omit<IdempotentFetchOptions, 'storage'>> & { readonly storage: KeyStorage };

/** What an option is if it is not given, the end of the sentence "deadline must be …", and how that is checked. */
type Rule<T> = readonly [byDefault: T, expects: string, accepts: (value: unknown) => boolean];

/** A timer with a longer delay fires at once, in browsers and in Node (its delays are 32 bits). */
const MAX_TIMER = 2_147_483_647;
const isTimer = (value: unknown): boolean => Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_TIMER;
const milliseconds = `a whole number of milliseconds from 1 to ${MAX_TIMER}`;
/** Returns true for text of the characters that a header name may have (RFC 9110, section 5.6.2). */
const isHeaderName = (value: unknown): boolean =>
  typeof value === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value);
const areHeaderNames = (value: unknown): boolean => Array.isArray(value) && value.every(isHeaderName);
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isStorage = (value: unknown): boolean =>
  value === 'memory' || ['claim', 'remove'].every(name => isFunction((Object(value) as Record<string, unknown>)[name]));
const storages = '"memory" or an object with claim() and remove() (a page needs none: its keys are in IndexedDB)';
const isLifetime = (value: unknown): boolean => typeof value === 'number' && value > 0;

const rules: { readonly [Name in keyof ResolvedOptions]: Rule<ResolvedOptions[Name]> } = {
  storage: [ofThisPage, storages, isStorage],
  prefix: ['bindonce:', 'a string', value => typeof value === 'string'],
  keyLifetime: [86_400_000, 'a number of milliseconds above zero', isLifetime],
  whenStorageFails: ['reject', '"reject" or "memory"', value => value === 'reject' || value === 'memory'],
  additionalHeaders: [[], 'an array of HTTP header names', areHeaderNames],
  headerName: ['Idempotency-Key', 'an HTTP header name', isHeaderName],
  replayedHeader: ['Idempotent-Replayed', 'an HTTP header name', isHeaderName],
  deadline: [60_000, milliseconds, isTimer],
  attemptTimeout: [15_000, milliseconds, isTimer],
  baseDelay: [200, milliseconds, isTimer],
  maxDelay: [10_000, milliseconds, isTimer],
  onRetry: [() => undefined, 'a function', isFunction],
  // Looked up for each call, so that a global fetch that is replaced later (by a tracer, for example) is used.
  fetch: [(...request) => fetch(...request), 'a function', isFunction],
};

/** Checks options and adds the defaults. @throws TypeError for an unknown option or an invalid value. */
export function resolveOptions(options: IdempotentFetchOptions): ResolvedOptions {
  if (Object.prototype.toString.call(options) !== '[object Object]')
    refuse('options must be an object. A request is made by the function it returns.');
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    if (!Object.hasOwn(rules, name))
      refuse(`there is no option "${name}"; there are: ${Object.keys(rules).join(', ')}`);
    const [, expects, accepts] = rules[name as keyof ResolvedOptions];
    if (!accepts(value)) refuse(`${name} must be ${expects}, not ${shown(value)}`);
  }
  const defaults = Object.entries(rules).map(([name, [byDefault]]) => [name, byDefault]);
  const resolved = Object.fromEntries([...defaults, ...given]) as ResolvedOptions;
  const storage = options.storage === 'memory' ? memory : resolved.storage;
  return { ...resolved, storage: options.whenStorageFails === 'memory' ? orMemory(storage) : storage };
}

/** @throws TypeError for what the caller has to correct. */
export function refuse(message: string): never {
  throw new TypeError(`idempotentFetch: ${message}`);
}

/** Describes a value for a message: briefly, and never with the contents of an object. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
