import { makeBindRequest } from './binding/bind-request';
import { namingErrors } from './binding/declaration/declarations';
import type { BindHandler } from './binding/express-types';
import { mergeBinding, resolveOptions as resolveBindingOptions, type BindingOptions } from './binding/options';
import { makeSerializerContext, type serializerContext } from './binding/responses/json';
import { assertType, type AnyType, type Infer } from './binding/types/property-type';
import { valueReaders, type ReadValue, type ValueReaders } from './binding/single-value';
import { makeIdempotency, type IdempotencyMiddleware } from './idempotency/idempotency';
import type { IdempotencyOptions } from './idempotency/options/options';
import { checkIdempotency, mergeIdempotency, type CallersOn } from './idempotency/options/resolved-options';
import { checkOptions, fn, object, type Rule } from './options/check';
import { snapshotOf } from './options/merge';
import type { Answering, OnProblem } from './problems/answer';

const absoluteUri: Rule = {
  expects: 'an absolute URI',
  accepts: value => typeof value === 'string' && URL.canParse(`${value}code`),
};

const rules = { idempotency: object, binding: object, onProblem: fn, problemTypeBase: absoluteUri };

/** Defaults for a whole application. */
export interface Configuration {
  /** Default options of `idempotency()`. */
  idempotency?: IdempotencyOptions;
  /** Default options of `bindRequest()`. */
  binding?: BindingOptions<unknown>;
  /**
   * Called with the problem of each refused request, instead of answering it: `(problem, req, res, next) =>
   * next(problem)` leaves it to the application's error handler.
   */
  onProblem?: OnProblem;
  /**
   * The beginning of a problem's `type`; its code follows: `'https://docs.example.com/problems#'`. Default
   * `'urn:bindonce:'`.
   */
  problemTypeBase?: string;
}

/** The two middlewares, and the functions beside them, with an application's defaults. */
export interface Configured extends ValueReaders {
  /** {@link idempotency} with these defaults. */
  readonly idempotency: (options?: IdempotencyOptions) => IdempotencyMiddleware;
  /** {@link bindRequest} with these defaults. */
  readonly bindRequest: <D extends AnyType>(Dto: D, options?: BindingOptions<Infer<D>>) => BindHandler<Infer<D>>;
  /**
   * {@link serializerContext} with the naming policy, converters, contexts, limits and `quoteValues` of these
   * defaults.
   */
  readonly serializerContext: typeof serializerContext;
}

/**
 * Makes both middlewares with other defaults, for a whole application. The options of an endpoint take precedence.
 * There is no global state: several configurations can be used next to each other.
 * @throws TypeError for an unknown option or an invalid value. Options are checked at once, not on first use.
 */
export function configure(configuration: Configuration = {}): Configured {
  checkOptions('configure', configuration, rules);
  const { idempotency: guarding = {}, binding: bound = {}, ...answering } = configuration;
  const resolved = resolveBindingOptions(bound);
  const binding = mergeBinding({}, bound);
  // Both middlewares take the caller from the same function.
  const { claims: callers } = binding;
  checkIdempotency(guarding);
  checkKeyType(guarding);
  const idempotency = snapshotOf(guarding);
  return {
    idempotency: (options = {}) => guard(mergeIdempotency(idempotency, options), answering, callers),
    serializerContext: types => makeSerializerContext(types, binding, resolved),
    bindRequest: (Dto, options = {}) => makeBindRequest(Dto, mergeBinding(binding, options), answering),
    ...valueReaders(resolved, answering),
  };
}

/**
 * Makes an Express middleware that runs the handler once for a given request; each duplicate gets the stored response.
 * Mount it after authentication, and before everything that must not happen twice.
 * @throws TypeError for an unknown option, an invalid value, or a store that cannot hold leases.
 */
export function idempotency(options: IdempotencyOptions = {}): IdempotencyMiddleware {
  return guard(options);
}

function guard(options: IdempotencyOptions, answering?: Answering, callers?: CallersOn): IdempotencyMiddleware {
  const middleware = makeIdempotency(options, answering, callers);
  checkKeyType(options);
  return middleware;
}

/** Checks the type of the key here, because idempotency/ does not know what a type is. @throws TypeError */
function checkKeyType({ swaggerHeaderType: type }: IdempotencyOptions): void {
  if (type === undefined) return;
  namingErrors('idempotency: swaggerHeaderType', () => assertType(type));
}

/**
 * Makes an Express middleware that fills `req.dto` from JSON body, form, route, query, claims, headers, cookies and
 * permissions, in that order; a later source overwrites an earlier one. One 400 response lists the failures of all.
 * @param Dto a class made with `dto({...})` or decorators, `list(Dto)` for a JSON array, or a Standard Schema for the
 * JSON body.
 * @throws TypeError for a declaration that cannot work (it names the property), an unknown option or an invalid value.
 */
export function bindRequest<D extends AnyType>(Dto: D, options: BindingOptions<Infer<D>> = {}): BindHandler<Infer<D>> {
  return makeBindRequest(Dto, options);
}

const readers = valueReaders(resolveBindingOptions({}));

/**
 * Reads one route parameter without a dto: `routeValue(req, 'id', guid)`. If it is missing or invalid, the request is
 * answered with 400, and then the call throws; with `{ required: false }`, it is undefined instead.
 * @throws the problem that was answered; TypeError for an argument that is not a type.
 */
export const routeValue: ReadValue = readers.routeValue;

/**
 * Reads one query parameter without a dto: `queryValue(req, 'page', int)`. If it is missing or invalid, the request is
 * answered with 400, and then the call throws; with `{ required: false }`, it is undefined instead.
 * @throws the problem that was answered; TypeError for an argument that is not a type.
 */
export const queryValue: ReadValue = readers.queryValue;

/**
 * Reads one header, whose name is case-insensitive, without a dto: `headerValue(req, 'X-Tenant', string)`. If it is
 * missing or invalid, the request is answered with 400, and then the call throws; with `{ required: false }`, it is
 * undefined instead.
 * @throws the problem that was answered; TypeError for an argument that is not a type.
 */
export const headerValue: ReadValue = readers.headerValue;

/**
 * Reads one cookie, whose name is case-sensitive, without a dto: `cookieValue(req, 'theme', string)`. If it is missing
 * or invalid, the request is answered with 400, and then the call throws; with `{ required: false }`, it is undefined
 * instead.
 * @throws the problem that was answered; TypeError for an argument that is not a type.
 */
export const cookieValue: ReadValue = readers.cookieValue;
