import { METHODS } from 'node:http';
import type { Request } from 'express';
import * as rule from '../../options/check';
import type { LeaseStore } from '../leases/lease-store';
import type { RecordedResponse } from '../responses/recorded-response';
import { isKeyvLike, type KeyvLike } from '../stores/keyv-like';
import { isStore, type Store } from '../stores/store';
import type { TelemetryMeter } from './telemetry';
import type { IdempotencyEvent } from './events';

/** The types that `bindRequest` takes, by what each has: binding/ declares them, which this room does not import. */
type PropertyType =
  | { codec(...given: never[]): unknown }
  | { readonly '~standard': { validate(...given: never[]): unknown } }
  | { tryParse(...given: never[]): unknown }
  | (abstract new (...given: never[]) => unknown);

/** Options of {@link idempotency}. */
export interface IdempotencyOptions {
  /** Name of the request header that carries the idempotency key. Default `'Idempotency-Key'`. */
  headerName?: string;
  /**
   * Further request headers that take part in the cache key. A stored 206, 304, compressed or translated response is
   * replayed for the same request, whatever that accepts now: name the headers that decide it, for example `['Accept',
   * 'Accept-Language']`, but not `Range`, which a client adds to a retry to resume a response. Default none.
   */
  additionalHeaders?: readonly string[];
  /**
   * `'reject'`: a request without a key, or with a blank one, gets 400. `'run'`: its handler runs unguarded, for
   * clients that do not send keys yet. Default `'reject'`.
   */
  whenKeyMissing?: 'reject' | 'run';
  /**
   * Methods of the requests that are guarded, for example `['POST', 'PATCH']`; others run unguarded. Default: every
   * method.
   */
  methods?: readonly string[];
  /** When true, the body takes no part in the cache key and is not read: a handler can stream it. Default false. */
  ignoreRequestBody?: boolean;
  /**
   * `'bytes'`: a body is compared by its bytes. `'json'`: JSON is compared by its value, so that the order of members,
   * white space, escapes and the spelling of a number (`4.50`, `4.5`) make no difference. Default `'bytes'`.
   */
  sameBody?: 'bytes' | 'json';
  /**
   * When true, the files of a form take part with their bytes, too, not only with field, name and size. Default false.
   */
  includeFileContents?: boolean;
  /**
   * When true, scheme, host and port take no part in the cache key, for a service with several names. A loopback host
   * (`localhost`, `127.0.0.0/8`, `::1`), its scheme and its port never take part. Default false.
   */
  ignoreHost?: boolean;
  /**
   * How long a response is kept, in milliseconds from when it was stored: at most ten years. Default 600 000 (10
   * minutes).
   */
  cacheDuration?: number;
  /** When true, the handler's response carries the idempotency key header, unless the handler sets it. Default true. */
  addHeaderToResponse?: boolean;
  /** Text about the header in the API description. Default: what the key is for, and how long it lasts. */
  swaggerHeaderDescription?: string;
  /**
   * Makes the example of the header in the API description: text, a number, a bigint, true or false, a Date, a list or
   * an object; undefined for none. Default none.
   */
  swaggerExampleGenerator?: () => unknown;
  /**
   * Type of the header in the API description, one that `bindRequest` takes, for example `guid`. Default: the shape of
   * the example, else `string`.
   */
  swaggerHeaderType?: PropertyType;
  /**
   * The store of the responses: a Keyv, version 5 or 6. Default: one in memory for the whole process, bounded to 64
   * MiB, or to an eighth of the memory that the process may use if that is less.
   */
  store?: KeyvLike | Store;
  /**
   * The store of the leases (the right to run). Give a `store` that the same processes share, too: without it, a
   * duplicate in another process gets 409. Default: next to the responses, in memory or on Redis.
   */
  leases?: LeaseStore;
  /**
   * Returns text that tells callers apart: requests with the same text may share a response. Called for each guarded
   * request, and again when its response is stored. `defaultScope` is the default: the ids of `req.auth` and
   * `req.user`, else a hash of Authorization, X-Api-Key and session. If the caller cannot be read, `defaultScope` is an
   * object that throws when it is used as text; `if (defaultScope)` is true.
   */
  scope?: (req: Request, defaultScope: string | undefined) => string | undefined;
  /**
   * `'wait'`: a duplicate waits for the response while the first request runs, at most `waitTimeout`. `'reject'`: it
   * gets 409 at once. Default `'wait'`.
   */
  whenInFlight?: 'wait' | 'reject';
  /** How long a duplicate waits before it gets a 409, in milliseconds. Default 10 000. */
  waitTimeout?: number;
  /**
   * `'run'`: a request that has the key of another one, and is not identical to it, is another request and runs.
   * `'reject'`: it gets 422. Default `'run'`.
   */
  whenKeyReused?: 'run' | 'reject';
  /**
   * `'reject'`: a request gets 503 if the store is out of reach before its handler runs. `'run'`: its handler runs
   * unguarded, unless this process knows that the request has run or is running; then it gets 503, too. Default
   * `'reject'`.
   */
  whenStoreFails?: 'reject' | 'run';
  /**
   * What happens to a key whose process dies, or loses the store, while its handler runs. `'run'`: the next attempt
   * runs when the lease has ended. `'refuse'`: every attempt gets 409 `outcome-unknown` until `resolve()` is called, or
   * `cacheDuration` after the handler began: for effects elsewhere, on a card for example. Needs a store on Redis,
   * PostgreSQL or SQLite, or leases with a method `settle`. Default `'run'`.
   */
  whenOwnerDies?: 'run' | 'refuse';
  /** How long each call to the store may take, in milliseconds. Default 2 000. */
  storeTimeout?: number;
  /** How long a lease lasts if its process dies, in milliseconds; renewed while the handler runs. Default 30 000. */
  leaseDuration?: number;
  /**
   * Returns whether a response is stored. `false`, or a promise of it within `storeTimeout`: the next duplicate runs
   * the handler again. If it throws, is late or returns anything else, the response is stored, with a process warning.
   * Default: every response is stored.
   */
  shouldCache?: (response: RecordedResponse, req: Request) => boolean | Promise<boolean>;
  /** Response header that is `true` on a replay, or false for none. Default `'Idempotent-Replayed'`. */
  replayedHeader?: string | false;
  /** Pattern that a key must match; others are refused with 400. Default: any text that is not blank is a key. */
  keyPattern?: RegExp;
  /**
   * Most bytes of a request body; a longer one is refused with 413. Default 10 485 760 (10 MiB). (A parser that is
   * mounted before `idempotency()` has a limit of its own.)
   */
  maxRequestBytes?: number;
  /**
   * Most bytes of a response body that is stored; duplicates of a longer one get 409. Without a `store` at most
   * 131 072 000 (125 MiB), and in proportion less if the process may use less than 1 GiB of memory. Default 10 485 760
   * (10 MiB).
   */
  maxResponseBytes?: number;
  /**
   * Called with the outcome of each guarded request, for logs and metrics. If it throws, a process warning is emitted.
   * Default none.
   */
  onEvent?: (event: IdempotencyEvent, req: Request) => void;
  /**
   * Metrics for OpenTelemetry: the counter `bindonce.requests` by `bindonce.outcome`, and `bindonce.handler.duration`,
   * `bindonce.wait.duration` and `bindonce.store.duration` in seconds, with `http.route` where Express knows it, and no
   * key or caller. `true`: with the global meter provider (the package `@opentelemetry/api`); `{ meter }`: with a meter
   * of yours. Default false.
   */
  telemetry?: boolean | { readonly meter?: TelemetryMeter };
}

/** The rule of each option, and its default if it has one. */
export const idempotencyRules: {
  readonly [Name in keyof IdempotencyOptions]-?: rule.Rule & { readonly byDefault?: IdempotencyOptions[Name] };
} = {
  headerName: { ...rule.headerName, byDefault: 'Idempotency-Key' },
  additionalHeaders: { ...rule.headerNames, byDefault: [] },
  whenKeyMissing: { ...rule.oneOf('reject', 'run'), byDefault: 'reject' },
  methods: { expects: "an array of HTTP methods, for example ['POST', 'PATCH']", accepts: areMethods },
  ignoreRequestBody: { ...rule.boolean, byDefault: false },
  sameBody: { ...rule.oneOf('bytes', 'json'), byDefault: 'bytes' },
  includeFileContents: { ...rule.boolean, byDefault: false },
  ignoreHost: { ...rule.boolean, byDefault: false },
  cacheDuration: { ...rule.longMilliseconds, byDefault: 600_000 },
  addHeaderToResponse: { ...rule.boolean, byDefault: true },
  swaggerHeaderDescription: rule.text,
  swaggerExampleGenerator: rule.fn,
  swaggerHeaderType: {
    expects: 'a type, for example guid',
    accepts: value => rule.either(rule.object, rule.fn).accepts(value),
  },
  store: {
    expects: 'a Keyv, for example new Keyv(adapter)',
    accepts: value => isKeyvLike(value) || isStore(value),
  },
  leases: rule.objectWith(
    'a LeaseStore, which memoryLeases(), redisLeases() and postgresLeases() return when they are called',
    ...['acquire', 'renew', 'complete', 'release'],
  ),
  scope: rule.fn,
  whenInFlight: { ...rule.oneOf('wait', 'reject'), byDefault: 'wait' },
  waitTimeout: { ...rule.milliseconds, byDefault: 10_000 },
  whenKeyReused: { ...rule.oneOf('run', 'reject'), byDefault: 'run' },
  whenStoreFails: { ...rule.oneOf('reject', 'run'), byDefault: 'reject' },
  whenOwnerDies: { ...rule.oneOf('run', 'refuse'), byDefault: 'run' },
  storeTimeout: { ...rule.milliseconds, byDefault: 2_000 },
  leaseDuration: { ...rule.milliseconds, byDefault: 30_000 },
  shouldCache: rule.fn,
  replayedHeader: { ...rule.either(rule.headerName, rule.oneOf(false)), byDefault: 'Idempotent-Replayed' },
  keyPattern: { expects: 'a regular expression', accepts: value => value instanceof RegExp },
  maxRequestBytes: { ...rule.positiveInteger, byDefault: 10_485_760 },
  maxResponseBytes: { ...rule.positiveInteger, byDefault: 10_485_760 },
  onEvent: rule.fn,
  telemetry: { ...rule.either(rule.boolean, rule.object), byDefault: false },
};

/** Refuses an empty list, and a method that does not exist: both would silently leave requests unguarded. */
function areMethods(value: unknown): boolean {
  const isMethod = (one: unknown): boolean => typeof one === 'string' && METHODS.includes(one.toUpperCase());
  return Array.isArray(value) && value.length > 0 && value.every(isMethod);
}
