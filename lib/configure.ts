import type { Request } from 'express';
import { makeBind, type Bind } from './binding/bind';
import { makeBindRequest } from './binding/bind-request';
import type { BindHandler } from './binding/express-types';
import { mergeBinding, resolveOptions as resolveBindingOptions, type BindingOptions } from './binding/options';
import type { AnyType, Infer } from './binding/types/property-type';
import { valueReaders, type ValueReaders } from './binding/single-value';
import type { CallersOn } from './idempotency/identity/scope';
import { makeIdempotency, type IdempotencyMiddleware } from './idempotency/idempotency';
import type { IdempotencyOptions } from './idempotency/options';
import { checkOptions, fn, object, type Rule } from './options/check';
import { withDefaults } from './options/merge';
import type { Answering, OnProblem } from './problems/answer';

const aUri: Rule = {
  expects: 'an absolute URI',
  accepts: value => typeof value === 'string' && URL.canParse(`${value}code`),
};

/** Defaults for a whole application. */
export interface Configuration {
  /** Default options of `idempotency()`. */
  idempotency?: IdempotencyOptions;
  /** Default options of `bindRequest()`. */
  binding?: BindingOptions<unknown>;
  /** Answers refused requests in place of the RFC 9457 body, for example `(problem, req, res, next) => next(problem)`. */
  onProblem?: OnProblem;
  /**
   * What the `type` of a problem begins with, before its code: a page that explains each, for example
   * `'https://docs.example.com/problems#'` (RFC 9457, section 3.1.1). Default `'urn:bindonce:'`, which leads nowhere.
   */
  problemTypeBase?: string;
}

/** The two middlewares with an application's defaults. */
export interface Configured extends ValueReaders {
  /** {@link idempotency} with these defaults. */
  readonly idempotency: (options?: IdempotencyOptions) => IdempotencyMiddleware;
  /** {@link bindRequest} with these defaults. */
  readonly bindRequest: <D extends AnyType>(Dto: D, options?: BindingOptions<Infer<D>>) => BindHandler<Infer<D>>;
  /** {@link bind} with these defaults. */
  readonly bind: Bind;
  /** Removes a stored response, as the middlewares that use these defaults would: {@link IdempotencyMiddleware.purge}. */
  readonly purge: IdempotencyMiddleware['purge'];
}

/**
 * SPEC's global configurator: makes both middlewares with other defaults. What an endpoint gives wins. There is no global
 * state: two configurations live side by side.
 * @throws TypeError for an unknown option or a value that is none, now and not at the first use.
 */
export function configure(configuration: Configuration = {}): Configured {
  checkOptions('configure', configuration, {
    idempotency: object,
    binding: object,
    onProblem: fn,
    problemTypeBase: aUri,
  });
  const { binding = {}, onProblem, problemTypeBase } = configuration;
  const answering: Answering = { onProblem, problemTypeBase };
  const { claims } = binding;
  // Both middlewares ask the same function who calls.
  const callers: CallersOn | undefined = claims && (req => ({ 'the caller of `claims`': claims(req as Request) }));
  const { idempotency = {} } = configuration;
  const guard = makeIdempotency(idempotency, answering, callers);
  const { settings } = resolveBindingOptions(binding);
  return {
    idempotency: (options = {}) => makeIdempotency(withDefaults(idempotency, options), answering, callers),
    bind: makeBind(binding),
    purge: cacheKey => guard.purge(cacheKey),
    bindRequest: (Dto, options = {}) => makeBindRequest(Dto, mergeBinding(binding, options), answering),
    ...valueReaders(settings, answering),
  };
}

/**
 * Express middleware: for a given unique request the handler after it runs once, and every identical request gets the
 * stored response. Mount it after authentication and before whatever must not happen twice.
 * @throws TypeError for an unknown option, a value that is none, or a store that leases cannot be taken on.
 */
export function idempotency(options: IdempotencyOptions = {}): IdempotencyMiddleware {
  return makeIdempotency(options);
}

/**
 * Express middleware: fills one `req.dto` from JSON body, form, route, query, claims, headers, cookies and permissions, in
 * that order, a later source overwriting an earlier one. All failures of all sources are answered at once, with 400.
 * @param Dto a class made with `dto({...})` or decorators, `list(Dto)` for a JSON array, or a Standard Schema for the JSON body.
 * @throws TypeError for a declaration that cannot work, naming the property, an unknown option or a value that is none.
 */
export function bindRequest<D extends AnyType>(Dto: D, options: BindingOptions<Infer<D>> = {}): BindHandler<Infer<D>> {
  return makeBindRequest(Dto, options);
}

/**
 * Read one value of a request where there is no dto: `routeValue(req, 'id', guid)`.
 * @throws a problem (400) when the value is missing or cannot be read, unless `{ required: false }` makes it undefined then.
 */
export const { routeValue, queryValue, headerValue, cookieValue } = valueReaders(resolveBindingOptions({}).settings);

/** Binds a dto where there is no request, by the rules of {@link bindRequest}: `await bind(PlaceOrder, { body: message.content })`. */
export const bind: Bind = makeBind();
