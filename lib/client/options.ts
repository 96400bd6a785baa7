import { memory, type KeyStorage } from './key-storage.js';

/** Options of `idempotentFetch()`. */
export interface IdempotentFetchOptions {
  /**
   * Where the key of an operation is stored, before its first attempt and until its outcome is known:
   * `localStorage`, `sessionStorage`, or an object with the same three methods, which may return promises (on a server,
   * what one process has written must be read by all at once); or a function that returns it, called with each use:
   * `() => localStorage` does not throw where the module is loaded on a server, or the browser blocks the storage.
   * Default: the memory of this page or process, which all clients share; on a server, name the user in `operation` or
   * `prefix`.
   */
  readonly storage?: KeyStorage | (() => KeyStorage);
  /** The beginning of all names in `storage`. Default `bindonce:`. */
  readonly prefix?: string;
  /**
   * How long an operation that did not finish keeps its key, in milliseconds from its first attempt, or from a later
   * call that finds more left (the clock was set back). Later, the operation starts anew. A page or process that
   * knows the key does not heed a clock that is set forward; after a reload, or in another tab, a clock that has been
   * set forward by so much ends the key. Time for which the device sleeps may not count. Default 86 400 000 (a day).
   */
  readonly keyLifetime?: number;
  /**
   * Reaction to a `storage` that throws: `reject` sends nothing; `memory` continues with a key that is lost by a
   * reload or, on a server, when the client is made anew. Default `reject`.
   */
  readonly whenStorageFails?: 'reject' | 'memory';
  /** Request headers that are part of an operation, as `additionalHeaders` of the server. Default none. */
  readonly additionalHeaders?: readonly string[];
  /** The header that carries the key. Default `Idempotency-Key`. */
  readonly headerName?: string;
  /** The response header that marks a replay. Default `Idempotent-Replayed`. */
  readonly replayedHeader?: string;
  /**
   * How long a call may take, all attempts and pauses included, in milliseconds from the call. It gives up as soon as
   * the next attempt would begin too late. Default 60 000.
   */
  readonly deadline?: number;
  /**
   * How long one attempt may take until its whole answer is there, in milliseconds. It should exceed the server's
   * `waitTimeout` (10 s). Default 15 000.
   */
  readonly attemptTimeout?: number;
  /**
   * The longest pause after the first attempt, in milliseconds. It doubles with each attempt, and the pause is a
   * random part of it. Default 200.
   */
  readonly baseDelay?: number;
  /**
   * The longest pause that the client chooses by itself, in milliseconds; `Retry-After` may be longer. Default 10 000.
   */
  readonly maxDelay?: number;
  /** The function that sends, called as `fetch` is. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Options with their defaults. `isShared`: other tabs may use the storage. */
export type ResolvedOptions = Required<IdempotentFetchOptions> & {
  readonly storage: () => KeyStorage;
  readonly isShared: boolean;
};

interface Rule {
  /** Completes the sentence "deadline must be …". */
  readonly expects: string;
  readonly accepts: (value: unknown) => boolean;
}

/** A timer with a longer delay fires at once, in browsers and in Node (its delays are 32 bits). */
const MAX_TIMER = 2_147_483_647;

const milliseconds: Rule = {
  expects: `a whole number of milliseconds from 1 to ${MAX_TIMER}`,
  accepts: value => Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_TIMER,
};
const text: Rule = { expects: 'a string', accepts: value => typeof value === 'string' };
/** Returns true for text of the characters that a header name may have (RFC 9110, section 5.6.2). */
const isHeaderName = (value: unknown): boolean =>
  typeof value === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value);
const headerName: Rule = { expects: 'an HTTP header name', accepts: isHeaderName };

const rules: Readonly<Record<keyof IdempotentFetchOptions, Rule>> = {
  storage: {
    expects: 'an object with getItem, setItem and removeItem, or a function that returns one',
    accepts: value =>
      typeof value === 'function' ||
      (typeof value === 'object' &&
        value !== null &&
        ['getItem', 'setItem', 'removeItem'].every(
          name => typeof (value as Record<string, unknown>)[name] === 'function',
        )),
  },
  prefix: text,
  keyLifetime: {
    expects: 'a number of milliseconds above zero',
    accepts: value => typeof value === 'number' && value > 0,
  },
  whenStorageFails: { expects: '"reject" or "memory"', accepts: value => value === 'reject' || value === 'memory' },
  additionalHeaders: {
    expects: 'an array of HTTP header names',
    accepts: value => Array.isArray(value) && value.every(isHeaderName),
  },
  headerName,
  replayedHeader: headerName,
  deadline: milliseconds,
  attemptTimeout: milliseconds,
  baseDelay: milliseconds,
  maxDelay: milliseconds,
  fetch: { expects: 'a function', accepts: value => typeof value === 'function' },
};

export const isOption = (name: string): boolean => Object.hasOwn(rules, name);

/** Returns true if at most so many letters must be inserted, removed or replaced to make one name of the other. */
export function isNear(a: string, b: string, edits = 2): boolean {
  if (a === b) return true;
  const [restOfA, restOfB] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return isNear(restOfA, restOfB, edits);
  const left = edits - 1;
  return left >= 0 && (isNear(restOfA, b, left) || isNear(a, restOfB, left) || isNear(restOfA, restOfB, left));
}

/** Objects of these classes have no options of their own, and so would silently stand for none. */
const withoutOptions = [Array, Map, Set, Date];

/** Checks options and adds the defaults. @throws TypeError for an unknown option or an invalid value. */
export function resolveOptions(options: IdempotentFetchOptions): ResolvedOptions {
  if (typeof (options as { then?: unknown } | null)?.then === 'function')
    throw new TypeError('idempotentFetch: options must be an object, not a promise: await it first');
  if (
    typeof options !== 'object' ||
    (options as unknown) === null ||
    withoutOptions.some(one => options instanceof one)
  )
    throw new TypeError('idempotentFetch: options must be an object. A request is made by the function it returns.');
  for (const [name, value] of Object.entries(options) as [keyof IdempotentFetchOptions, unknown][]) {
    if (!isOption(name)) {
      const known = Object.keys(rules);
      const meant = known.find(one => isNear(name.toLowerCase(), one.toLowerCase()));
      const advice = meant ? `did you mean "${meant}"?` : `there are: ${known.join(', ')}`;
      throw new TypeError(`idempotentFetch: there is no option "${name}"; ${advice}`);
    }
    if (value !== undefined && !rules[name].accepts(value))
      throw new TypeError(`idempotentFetch: ${name} must be ${rules[name].expects}, not ${shown(value)}`);
  }
  const { storage = memory } = options;
  return {
    prefix: options.prefix ?? 'bindonce:',
    storage: typeof storage === 'function' ? storage : () => storage,
    isShared: storage !== memory,
    keyLifetime: options.keyLifetime ?? 86_400_000,
    whenStorageFails: options.whenStorageFails ?? 'reject',
    additionalHeaders: options.additionalHeaders ?? [],
    headerName: options.headerName ?? 'Idempotency-Key',
    replayedHeader: options.replayedHeader ?? 'Idempotent-Replayed',
    deadline: options.deadline ?? 60_000,
    attemptTimeout: options.attemptTimeout ?? 15_000,
    baseDelay: options.baseDelay ?? 200,
    maxDelay: options.maxDelay ?? 10_000,
    // Looked up for each call, so that a global fetch that is replaced later (by a tracer, for example) is used.
    fetch: options.fetch ?? ((...request) => fetch(...request)),
  };
}

/** Describes a value for a message: briefly, and never with the contents of an object. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
