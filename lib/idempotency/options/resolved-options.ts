import { checkOptions } from '../../options/check';
import { snapshotOf, withDefaults } from '../../options/merge';
import { isOfTheBody, isPerExchange } from '../responses/recorded-response';
import { backingStoreOf, isKeyvLike, isMapLike, refuseIgnoredAddress } from '../stores/keyv-like';
import { defaultStore, LONGEST_BODY, LONGEST_KEPT } from '../stores/memory-responses';
import type { Store } from '../stores/store';
import { responsesIn, type ResponseStore } from '../stores/responses';
import type { CallerOptions, CallersOn } from '../identity/caller';
import { leasesFor, leasesOfBackingStore } from './leases-for';
import { idempotencyDefaults, idempotencyRules, type IdempotencyOptions } from './options';
import { warnOfWorkers } from './workers';

type SwaggerOption = 'swaggerHeaderDescription' | 'swaggerExampleGenerator' | 'swaggerHeaderType';

/** The options after checking, with their defaults. */
export interface ResolvedOptions
  extends
    Required<
      Omit<IdempotencyOptions, 'store' | 'keyPattern' | 'scope' | 'methods' | 'shouldCache' | 'onEvent' | SwaggerOption>
    >,
    Pick<IdempotencyOptions, SwaggerOption>,
    CallerOptions {
  readonly methods: readonly string[] | undefined;
  readonly keyPattern: RegExp | undefined;
  readonly shouldCache: IdempotencyOptions['shouldCache'];
  readonly onEvent: IdempotencyOptions['onEvent'];
  readonly responses: ResponseStore;
  /** Undefined if the store does not commit in transactions of the application. */
  readonly commit: Store['commit'];
}

type HeaderOptions = Pick<ResolvedOptions, 'headerName' | 'additionalHeaders' | 'replayedHeader'>;

/** Headers with a secret; the header of the key is repeated in the response. */
const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'cookie', 'set-cookie']);

/**
 * @throws TypeError for a header that node loses or that is used for something else, or if a replay would overwrite the
 * key with its own mark.
 */
function checkHeaders(options: HeaderOptions): void {
  const { headerName, additionalHeaders, replayedHeader } = options;
  // In node's `req.headers`, it would be the prototype.
  if ([headerName, ...additionalHeaders].some(name => name.toLowerCase() === '__proto__'))
    throw new TypeError(
      'idempotency: headerName and additionalHeaders cannot name __proto__, because node loses a header of that name',
    );
  for (const option of ['headerName', 'replayedHeader'] as const) {
    const name = options[option];
    if (name !== false && (isPerExchange(name) || isOfTheBody(name) || CREDENTIALS.has(name.toLowerCase())))
      throw new TypeError(
        `idempotency: ${option} cannot be ${name}, because clients and servers use that header for something else. ` +
          `Choose another, for example ${idempotencyDefaults[option]}.`,
      );
  }
  if (replayedHeader !== false && replayedHeader.toLowerCase() === headerName.toLowerCase())
    throw new TypeError(`idempotency: headerName and replayedHeader must be two headers, not both ${headerName}`);
}

/** @throws TypeError if the default store would drop the longest responses that are to be kept. */
function checkSize({ maxResponseBytes }: Pick<ResolvedOptions, 'maxResponseBytes'>): void {
  if (maxResponseBytes > LONGEST_BODY)
    throw new TypeError(
      `idempotency: maxResponseBytes must be at most ${LONGEST_BODY} without a store, not ${maxResponseBytes}, ` +
        'because the default store holds 64 MiB in all. Lower it, or pass a store.',
    );
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
  checkHeaders(withDefaults(idempotencyDefaults, options));
}

/**
 * Checks the options and adds the defaults.
 * @param callers finds the callers of a request; default: where authentication middlewares leave them.
 * @throws TypeError for an unknown option, an invalid value, values that do not go together, or a store on which leases
 * cannot be held.
 */
export function resolveOptions(options: IdempotencyOptions, callers?: CallersOn): ResolvedOptions {
  checkIdempotency(options);
  const given = options.store;
  const keyv = given && isKeyvLike(given) ? given : undefined;
  if (!options.leases && (!given || (keyv && isMapLike(backingStoreOf(keyv))))) warnOfWorkers();
  const { store, keyPattern, scope, methods, shouldCache, onEvent, ...rest } = snapshotOf(options);
  const both = store && !isKeyvLike(store) ? store : undefined;
  const responses = both?.responses ?? (keyv ? responsesIn(keyv) : defaultStore());
  const leases = options.leases ?? both?.leases ?? (keyv ? leasesFor(keyv) : leasesOfBackingStore(responses));
  const known = withDefaults(idempotencyDefaults, rest);
  if (!store) checkSize(known);
  return {
    ...known,
    maxResponseBytes: store ? known.maxResponseBytes : Math.min(known.maxResponseBytes, LONGEST_KEPT),
    additionalHeaders: [...new Set(known.additionalHeaders.map(name => name.toLowerCase()))].sort(),
    leases,
    commit: options.leases ? undefined : both?.commit?.bind(both),
    keyPattern,
    scope,
    shouldCache,
    onEvent,
    methods: methods?.map(method => method.toUpperCase()),
    callersOn: callers,
    responses,
  };
}
