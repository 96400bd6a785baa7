import { METHODS } from 'node:http';
import type { Request } from 'express';
import * as rule from '../../options/check';
import type { LeaseStore } from '../leases/lease-store';
import type { RecordedResponse } from '../responses/recorded-response';
import { isKeyvLike, type KeyvLike } from '../stores/keyv-like';
import { isStore, type Store } from '../stores/store';
import type { IdempotencyEvent, TelemetryMeter } from './events';

/** The types that `bindRequest` takes, by what each has: binding/ declares them, which this room does not import. */
type PropertyType =
  | { codec(...given: never[]): unknown }
  | { readonly '~standard': { validate(...given: never[]): unknown } }
  | { tryParse(...given: never[]): unknown }
  | (abstract new (...given: never[]) => unknown);

/** Options of {@link idempotency}. */
export interface IdempotencyOptions {
  /** Request header that carries the key. Default `'Idempotency-Key'`. */
  headerName?: string;
  /**
   * Further request headers that take part in the cache key: those that decide the response (`Accept`), but not
   * `Range`, which clients add to a retry.
   */
  additionalHeaders?: readonly string[];
  /** `'reject'`: a request without a key gets 400. `'run'`: its handler runs unguarded. Default `'reject'`. */
  whenKeyMissing?: 'reject' | 'run';
  /** Methods that are guarded: `['POST', 'PATCH']`; others run unguarded. Default: all. */
  methods?: readonly string[];
  /** When true, the body is neither compared nor read: a handler can stream it. Default false. */
  ignoreRequestBody?: boolean;
  /**
   * `'json'`: JSON is compared by its value: order of members, white space and spelling of numbers (`4.50`, `4.5`) make
   * no difference. Default `'bytes'`.
   */
  sameBody?: 'bytes' | 'json';
  /** When true, files of a form are compared by their bytes, too. Default false: by field, name and size. */
  includeFileContents?: boolean;
  /**
   * When true, scheme, host and port are not compared, for a service with several names. Those of `localhost` never
   * are. Default false.
   */
  ignoreHost?: boolean;
  /** How long a response is kept, in milliseconds from when it was stored. Default 600,000 (10 minutes). */
  cacheDuration?: number;
  /** When true, the response carries the key. Default true. */
  addHeaderToResponse?: boolean;
  /** Text about the header in the API description. */
  swaggerHeaderDescription?: string;
  /** Makes the example of the header in the API description. */
  swaggerExampleGenerator?: () => unknown;
  /** Type of the header in the API description. Default: that of the example, else `string`. */
  swaggerHeaderType?: PropertyType;
  /** Where responses are kept: a Keyv, `postgresStore()` or `sqliteStore()`. Default: in memory, at most 64 MiB. */
  store?: KeyvLike | Store;
  /** The store of the leases (the right to run). Default: next to the responses. */
  leases?: LeaseStore;
  /**
   * Returns text that tells callers apart: requests with the same text may share a response. Called for each guarded
   * request, and again when its response is stored. `defaultScope`: the ids of `req.auth` and `req.user`, else a hash
   * of Authorization, X-Api-Key and session; it throws when used as text if the caller cannot be read.
   */
  scope?: (req: Request, defaultScope: string | undefined) => string | undefined;
  /**
   * `'wait'`: a duplicate of a request that runs waits for its response. `'reject'`: it gets 409 at once. Default
   * `'wait'`.
   */
  whenInFlight?: 'wait' | 'reject';
  /** How long a duplicate waits before it gets 409, in milliseconds. Default 10,000. */
  waitTimeout?: number;
  /**
   * `'run'`: a request with other values and a key that is in use is a request of its own, and runs. `'reject'`: it
   * gets 422. Default `'run'`.
   */
  whenKeyReused?: 'run' | 'reject';
  /**
   * `'reject'`: a request whose store is out of reach gets 503. `'run'`: its handler runs unguarded. Default
   * `'reject'`.
   */
  whenStoreFails?: 'reject' | 'run';
  /**
   * What happens to a key whose process dies while its handler runs. `'run'`: the next attempt runs when the lease has
   * ended. `'refuse'`: attempts get 409 `outcome-unknown` until `resolve()`, or until `cacheDuration` after the handler
   * began. Not in memory. Default `'run'`.
   */
  whenOwnerDies?: 'run' | 'refuse';
  /** How long each call to the store may take, in milliseconds. Default 2,000. */
  storeTimeout?: number;
  /** How long a lease lasts after its process died, in milliseconds. Default 30,000. */
  leaseDuration?: number;
  /**
   * Returns whether a response is stored; after `false`, the next duplicate runs the handler again. If it throws or is
   * late (`storeTimeout`), the response is stored, with a process warning.
   */
  shouldCache?: (response: RecordedResponse, req: Request) => boolean | Promise<boolean>;
  /** Response header that is `true` on a replay, or false for none. Default `'Idempotent-Replayed'`. */
  replayedHeader?: string | false;
  /** Pattern that a key must match; others get 400. Default: any text that is not blank. */
  keyPattern?: RegExp;
  /** Most bytes of a request body; a longer one gets 413. Default 10,485,760 (10 MiB). */
  maxRequestBytes?: number;
  /** Most bytes of a response that is stored; duplicates of a longer one get 409. Default 10,485,760 (10 MiB). */
  maxResponseBytes?: number;
  /** Called with the outcome of each guarded request, for logs and metrics. */
  onEvent?: (event: IdempotencyEvent, req: Request) => void;
  /**
   * OpenTelemetry metrics: `true` with the global meter provider (`@opentelemetry/api`), `{ meter }` with your own:
   * `bindonce.requests` by `bindonce.outcome`; `bindonce.handler.duration`, `bindonce.wait.duration`,
   * `bindonce.store.duration` in seconds. Default false.
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
  swaggerHeaderType: { ...rule.either(rule.object, rule.fn), expects: 'a type, for example guid' },
  store: { expects: 'a Keyv, for example new Keyv(adapter)', accepts: value => isKeyvLike(value) || isStore(value) },
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
