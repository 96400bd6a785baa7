import cluster from 'node:cluster';
import type { Request } from 'express';
import { oneInProcess } from '../../basics/process';
import { checkOptions } from '../../options/check';
import { withDefaults } from '../../options/merge';
import { warnOnce } from '../../warnings/warn-once';
import type { LeaseStore } from '../leases/lease-store';
import { memoryLeases } from '../leases/memory-leases';
import { OF_THE_BODY, PER_EXCHANGE } from '../responses/recorded-response';
import {
  backingStoreOf,
  isKeyvLike,
  isMapLike,
  namespaceOf,
  refuseIgnoredAddress,
  responsesIn,
  type KeyvLike,
} from '../stores/keyv-like';
import { defaultStore, LONGEST_BODY, LONGEST_KEPT } from '../stores/memory-responses';
import { redisLeasesFor } from '../stores/redis/leases';
import type { ResponseStore, Store } from '../stores/store';
import { telemetryOf, type Telemetry } from './events';
import { idempotencyRules, type IdempotencyOptions } from './options';

/** The `claims` of an application: they return the caller of a request, or nothing. */
export type CallersOn = (req: Request) => unknown;

/** The options without a default. */
type Optional = Extract<
  keyof IdempotencyOptions,
  `swagger${string}` | 'store' | 'scope' | 'keyPattern' | 'methods' | 'shouldCache' | 'onEvent'
>;

/** The value of each option; of an absent one its default, if it has one. */
type Values = Required<Omit<IdempotencyOptions, Optional>> & Pick<IdempotencyOptions, Optional>;

/** The options after checking, with what they stand for. */
export interface ResolvedOptions extends Omit<Values, 'store' | 'telemetry'> {
  /** Undefined: `req.auth` and `req.user`. */
  readonly callersOn: CallersOn | undefined;
  readonly responses: ResponseStore;
  /** The store of both, unless the leases are another's; undefined for a Keyv. */
  readonly both: Store | undefined;
  readonly telemetry: Telemetry | undefined;
  /** The value of each option, by the name that the application knows: two guards are compared by them. */
  readonly given: Readonly<Record<string, unknown>>;
}

function valuesOf(options: IdempotencyOptions): Values {
  const names = Object.keys(idempotencyRules) as (keyof IdempotencyOptions)[];
  return Object.fromEntries(names.map(name => [name, options[name] ?? idempotencyRules[name].byDefault])) as Values;
}

/** Headers with a secret; the header of the key is repeated in the response. */
const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'cookie', 'set-cookie']);

/** @throws TypeError for a header with another use, or if a replay would overwrite the key with its own mark. */
function checkHeaders({ headerName, replayedHeader }: Values): void {
  for (const [option, name] of Object.entries({ headerName, replayedHeader }))
    if (name !== false && [PER_EXCHANGE, OF_THE_BODY, CREDENTIALS].some(names => names.has(name.toLowerCase())))
      throw new TypeError(
        `idempotency: ${option} cannot be ${name}, because clients and servers use that header for something else. ` +
          `Choose another, for example ${String(idempotencyRules[option as 'headerName'].byDefault)}.`,
      );
  if (replayedHeader !== false && replayedHeader.toLowerCase() === headerName.toLowerCase())
    throw new TypeError(`idempotency: headerName and replayedHeader must be two headers, not both ${headerName}`);
}

/** @throws TypeError for an unknown option, an invalid value, or a Keyv in place of the options. */
function checkGiven(options: unknown): void {
  if (isKeyvLike(options)) throw new TypeError('idempotency: this is a Keyv. Write idempotency({ store }).');
  checkOptions('idempotency', options, idempotencyRules);
}

/** Merges a middleware's options over the application's. @throws TypeError as `resolveOptions` does. */
export function mergeIdempotency(defaults: IdempotencyOptions, given: IdempotencyOptions): IdempotencyOptions {
  checkGiven(given);
  return withDefaults(defaults, given);
}

/**
 * Checks an application's options, which each middleware may add to.
 * @throws TypeError as `resolveOptions` does, except for what only all the options of a middleware show.
 */
export function checkIdempotency(options: IdempotencyOptions): void {
  checkGiven(options);
  const { store, leases } = options;
  if (store && isKeyvLike(store)) {
    refuseIgnoredAddress(store);
    if (!leases) leasesFor(store);
  }
  checkHeaders(valuesOf(options));
}

/**
 * Checks the options and adds the defaults.
 * @param callersOn finds the callers of a request; default: where authentication middlewares leave them.
 * @throws TypeError for an unknown option, an invalid value, values that do not go together, or a store on which leases
 * cannot be held.
 */
export function resolveOptions(options: IdempotencyOptions, callersOn?: CallersOn): ResolvedOptions {
  checkIdempotency(options);
  const given = valuesOf(options);
  const { store, maxResponseBytes, ...values } = given;
  if (!store && maxResponseBytes > LONGEST_BODY)
    throw new TypeError(
      `idempotency: maxResponseBytes must be at most ${LONGEST_BODY} without a store, not ${maxResponseBytes}, ` +
        'because the default store holds 64 MiB in all. Lower it, or pass a store.',
    );
  const [keyv, both] = store && isKeyvLike(store) ? [store] : [undefined, store];
  if (!options.leases && !both && (!keyv || isMapLike(backingStoreOf(keyv)))) warnOfWorkers();
  const responses = both?.responses ?? (keyv ? responsesIn(keyv) : defaultStore());
  const leases = options.leases ?? both?.leases ?? (keyv ? leasesFor(keyv) : leasesOfBackingStore(responses));
  if (values.whenOwnerDies === 'refuse' && !leases.settle)
    throw new TypeError(
      "idempotency: whenOwnerDies 'refuse' needs leases with a method settle(), as a Keyv on Redis or Valkey, " +
        'postgresStore(pool) and sqliteStore(path) have. Leases in memory end with their process.',
    );
  return {
    ...values,
    maxResponseBytes: store ? maxResponseBytes : Math.min(maxResponseBytes, LONGEST_KEPT),
    additionalHeaders: [...new Set(values.additionalHeaders.map(name => name.toLowerCase()))].sort(),
    methods: values.methods?.map(method => method.toUpperCase()),
    leases,
    both: options.leases ? undefined : both,
    responses,
    callersOn,
    telemetry: telemetryOf(values.telemetry),
    given: { ...given, 'binding.claims of configure()': callersOn },
  };
}

/**
 * The leases of each store, shared by all middlewares on it, also when two copies of this package are loaded; hence one
 * map in the process, keyed by the object that actually holds the data, and by namespace.
 */
const shared = oneInProcess('leases', () => new WeakMap<object, Map<string | undefined, LeaseStore>>());

/**
 * Returns the leases that belong to a store: in memory for a Map, on the same server for Redis.
 * @throws TypeError for a store that other processes may share, and on which bindonce knows no atomic "set if absent".
 */
const leasesFor = (store: KeyvLike): LeaseStore => leasesOfBackingStore(backingStoreOf(store), namespaceOf(store));

/** Returns the leases that belong to the object that holds the responses. */
export function leasesOfBackingStore(store: object, namespace?: string): LeaseStore {
  const byNamespace = shared.get(store) ?? new Map<string | undefined, LeaseStore>();
  shared.set(store, byNamespace);
  const known = byNamespace.get(namespace);
  const leases = known ?? (isMapLike(store) ? memoryLeases() : redisLeasesFor(store, namespace));
  if (!leases)
    throw new TypeError(
      `idempotency: store is a Keyv on ${store.constructor.name}, on which bindonce cannot hold leases. ` +
        'Use a Map, @keyv/redis or @keyv/valkey, or pass `leases`: redisLeases(client), or memoryLeases() when this ' +
        'application runs in one process. For PostgreSQL, use postgresStore(pool) in its place, with a Pool of pg.',
    );
  byNamespace.set(namespace, leases);
  return leases;
}

/**
 * Environment variables of what usually runs several processes, or starts and ends them by itself. (In a container of
 * Kubernetes or Heroku, one process may be meant.)
 */
const STARTERS = [
  ...['NODE_APP_INSTANCE', 'pm_id', 'AWS_LAMBDA_FUNCTION_NAME', 'K_SERVICE', 'VERCEL'],
  'FUNCTIONS_WORKER_RUNTIME',
];

/** Warns if this process is probably one of several, at the same time or one after the other: they share no memory. */
function warnOfWorkers(): void {
  const variable = STARTERS.find(name => process.env[name] !== undefined);
  if (!cluster.isWorker && variable === undefined) return;
  const what = cluster.isWorker ? 'is a cluster worker' : `is probably one of several (${variable} is set)`;
  warnOnce(
    'BINDONCE_WORKERS',
    `idempotency: the responses are kept in the memory of this process, which ${what}. ` +
      'A retry can reach another process, which does not have them, and runs there again. ' +
      'Pass a store that all processes share: idempotency({ store: new Keyv(new KeyvRedis(url)) }).',
  );
}
