import type { Request } from 'express';
import type { Multer } from 'multer';
import {
  arrayOf,
  boolean,
  checkOptions,
  fn,
  isClass,
  object,
  objectWith,
  oneOf,
  text,
  type Rule,
} from '../options/check';
import { snapshotOf, withDefaults } from '../options/merge';
import { asClaims, asPermissions, permissionsIn, principalOf, type Claims } from '../principal/principal';
import type { Binder, Modifier, ResolvedOptions } from './input/binder-context';
import { uploadReader, type UploadOptions } from './input/uploads';
import { FIELD_SOURCES } from './plan/source-properties';
import type { BindingFailure } from './reading/failures';
import { resolveLimits, type BindingLimits } from './reading/limits';
import type { SerializerContext } from './responses/serializer-context';
import type { AnyType } from './types/property-type';
import {
  mergeSerializer,
  responsesRule,
  serializerRules,
  type ResponseTypes,
  type SerializerOptions,
} from './types/serializer-options';
import type { ValueParser } from './types/value-parser';

/** Names of security schemes that a caller needs together, each with its scopes (OpenAPI 3.1, section 4.8.30). */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** The entry of an endpoint in the API description (OpenAPI 3.1, section 4.8.10). */
export interface OperationOptions {
  /** A short line about the endpoint. Default none. */
  summary?: string;
  /** Text about the endpoint, which may be Markdown. Default none. */
  description?: string;
  /** Names that group endpoints. Default none. */
  tags?: readonly string[];
  /** Name of the operation, unique in the API. Default: made from method and path. */
  operationId?: string;
  /** When true, the endpoint is marked as deprecated. Default false. */
  deprecated?: boolean;
  /** When true, the endpoint is left out. Default false. */
  hidden?: boolean;
  /**
   * How callers authenticate at this endpoint, by the names of `securitySchemes` of `openapi()`: one of the objects,
   * with all schemes that it names; `[]` for anyone. Default: as `allowAnonymous`, claims and permissions say.
   */
  security?: readonly SecurityRequirement[];
  /**
   * Examples of the request body by name: `{ small: { summary: 'One item', value: { … } } }`. A value may hold dates,
   * bigints and whatever else has a `toJSON()`. Default none.
   */
  examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

/**
 * Options of `bindRequest()`.
 * @typeParam T the type of the endpoint's dto.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- options declared apart may be for any endpoint.
export interface BindingOptions<T = any> extends SerializerOptions {
  /**
   * `false`: forms get 415. `true`: multipart forms are accepted. `{ urlEncoded: true }`: urlencoded forms, too.
   * Default false.
   */
  allowFormData?: boolean | { readonly urlEncoded: true };
  /**
   * Further media types that are JSON, without parameters, for example `['text/plain']`. Browsers let other sites send
   * that one without asking. Default none: `application/json`, and all that end with `+json`.
   */
  jsonTypes?: readonly string[];
  /**
   * Whether requests without a caller are accepted; otherwise they get 401. A `req.auth` or `req.user` that is empty,
   * or whose id is null, is not a caller. Default true.
   */
  allowAnonymous?: boolean;
  /**
   * Where a bare type and `field()` bind from, at the root of the dto. `['json']`: no form, route or query can set or
   * replace such a value; `['json', 'form']`: the body only. `jsonField`, `queryParam`, `fromForm` and the others name
   * their source themselves. Default all four, of which a later one overwrites an earlier one.
   */
  fieldSources?: readonly ('json' | 'form' | 'route' | 'query')[];
  /**
   * Whether a claim, header or cookie with `required: false` that the request lacks is read from body, form, route or
   * query, where a client can send any value, if its declaration does not say (`fallback`). Default true.
   */
  fallback?: boolean;
  /**
   * `'refuse'`: a name in JSON, a form or a query that no property takes from there is a failure, in nested dtos, too,
   * and the API description says `additionalProperties: false`. Default `'ignore'`.
   */
  unknownNames?: 'ignore' | 'refuse';
  /**
   * Makes the dto instead of the built-in binder. A function gets the Dto, once, and returns the binder. Default: a
   * `RequestBinder`.
   */
  binder?: BinderObject<T> | ((Dto: AnyType) => Binder<T>);
  /**
   * Called after the binder for each request without failures; may change the dto, report failures, or throw. Default
   * none.
   */
  modifier?: Modifier<T>;
  /**
   * Parsers, made by `valueParserFor`, that take precedence over the types' own; an endpoint's come before those of
   * `configure()`. Default none.
   */
  valueParsers?: readonly ValueParser[];
  /** The reader and writer of this endpoint's JSON. Default none. */
  serializerContext?: SerializerContext;
  /**
   * Types of the responses by status: `res.json()` writes the declared properties, exactly and under their JSON names.
   * Default none.
   */
  responses?: ResponseTypes;
  /**
   * The claims of the caller. Default: `req.auth` (a function is called), or its `payload` if it has only that,
   * `header` and `token`, as express-oauth2-jwt-bearer leaves it; else `req.user`.
   */
  claims?: (req: Request) => Claims | null | undefined;
  /** The permissions of the caller. Default: the `permissions` claim, else `scope`, a list or text with spaces. */
  permissions?: (req: Request) => Iterable<string>;
  /**
   * Returns a text instead of a failure's own, for example in the client's language, or undefined to keep it. Default
   * none.
   */
  failureMessage?: (failure: BindingFailure, req: Request) => string | undefined;
  /**
   * When false, failures repeat no refused value and no message of a schema. (Claims, cookies and credentials are never
   * repeated.) Default true.
   */
  quoteValues?: boolean;
  /** Limits of one request; each has its own default. */
  limits?: BindingLimits;
  /** Where uploaded files go: memory (default), disk, or a Multer of your own. */
  uploads?: UploadOptions | Multer;
  /** The entry of the endpoint in the API description. Default none. */
  openapi?: OperationOptions;
}

const textsIn = (value: unknown): boolean => Array.isArray(value) && value.every(one => text.accepts(one));
const eachIn = (value: unknown, holds: (one: unknown) => boolean): boolean =>
  object.accepts(value) && Object.values(value as object).every(holds);

export const securityRule: Rule = {
  expects: 'an array of objects that name schemes and their scopes, for example [{ bearer: [] }]',
  accepts: value => Array.isArray(value) && value.every(one => eachIn(one, textsIn)),
};

const operationRules: Readonly<Record<keyof OperationOptions, Rule>> = {
  ...{ summary: text, description: text, operationId: text, deprecated: boolean, hidden: boolean },
  tags: { expects: 'an array of names', accepts: textsIn },
  security: securityRule,
  examples: {
    expects: 'an object of { summary, value } by name',
    accepts: value => eachIn(value, one => object.accepts(one) && (one as { value?: unknown }).value !== undefined),
  },
};

/** What each option must be. (`resolveOptions` has the defaults.) */
const bindingRules: Readonly<Record<keyof BindingOptions, Rule>> = {
  allowFormData: {
    expects: 'true, false or { urlEncoded: true }',
    accepts: value => boolean.accepts(value) || (Object(value) as { urlEncoded?: unknown }).urlEncoded === true,
  },
  jsonTypes: arrayOf('media types without parameters', isMediaType),
  allowAnonymous: boolean,
  fieldSources: {
    expects: `an array of one or more of ${FIELD_SOURCES.join(', ')}, each once`,
    accepts: areFieldSources,
  },
  ...{ fallback: boolean, unknownNames: oneOf('ignore', 'refuse') },
  binder: {
    expects:
      'an object with a method bind(context, signal), or a function that makes one; for a class, pass an instance',
    accepts: isBinder,
  },
  modifier: fn,
  valueParsers: arrayOf('results of valueParserFor()', isParser),
  ...serializerRules,
  // One of another copy of this package is one, too.
  serializerContext: objectWith('a result of serializerContext()', 'read', 'write'),
  responses: responsesRule,
  ...{ claims: fn, permissions: fn, failureMessage: fn, quoteValues: boolean, limits: object },
  uploads: objectWith('{ storage, directory } or a Multer'),
  openapi: object,
};

function isMediaType(value: unknown): boolean {
  return typeof value === 'string' && /^[^\s/;,]+\/[^\s/;,]+$/.test(value);
}

function isParser(value: unknown): boolean {
  return typeof (value as Partial<ValueParser> | null)?.parse === 'function';
}

function areFieldSources(value: unknown): boolean {
  const known: readonly unknown[] = FIELD_SOURCES;
  const isSet = Array.isArray(value) && value.length > 0 && new Set(value).size === value.length;
  return isSet && value.every(one => known.includes(one));
}

/** A class is no binder, and may be compiled to a function. */
function isBinder(value: unknown): boolean {
  const { bind } = Object(typeof value === 'function' ? value.prototype : value) as Partial<Binder>;
  return typeof value === 'function' ? !isClass(value) && typeof bind !== 'function' : typeof bind === 'function';
}

/** Excludes functions, which the compiler takes for binders because of `Function.prototype.bind`. */
type BinderObject<T> = Binder<T> & { readonly [Symbol.hasInstance]?: never };

/**
 * @param Dto the dto of the endpoint, by which its context is found.
 * @throws TypeError for an unknown option or an invalid value.
 */
export function resolveOptions(
  given: BindingOptions,
  Dto?: AnyType,
): ResolvedOptions & Pick<BindingOptions, 'openapi'> {
  checkOptions('bindRequest', given, bindingRules);
  const options = withDefaults(defaults, bindingSnapshot(given));
  const { allowFormData, claims, permissions, uploads } = options;
  checkOptions('bindRequest: openapi', options.openapi ?? {}, operationRules);
  const context = options.serializerContext ?? options.contexts?.find(({ types }) => Dto && types.request === Dto);
  const { types: contextTypes = {}, defaults: ofContext = {} } = context ?? {};
  const limits = resolveLimits(options.limits);
  const callerOf = (req: Request): Claims | undefined => asClaims(claims(req));
  const serializer = mergeSerializer(mergeSerializer(ofContext, options), contextTypes);
  return {
    ...options,
    jsonTypes: options.jsonTypes.map(type => type.toLowerCase()),
    allowMultipart: allowFormData !== false,
    allowUrlEncoded: typeof allowFormData === 'object',
    claims: callerOf,
    permissions: permissions ? req => asPermissions(permissions(req)) : req => permissionsIn(callerOf(req)),
    serializer: { propertyNamingPolicy: 'camelCase', decimals: 'number', ...serializer },
    writesInstances: serializer.propertyNamingPolicy !== undefined || serializer.converters.length > 0,
    responses: { ...contextTypes.responses, ...options.responses },
    limits,
    ...uploadReader(uploads, limits),
  };
}

const defaults = {
  allowFormData: false,
  jsonTypes: [] as readonly string[],
  allowAnonymous: true,
  fieldSources: FIELD_SOURCES,
  fallback: true,
  unknownNames: 'ignore',
  claims: principalOf,
  valueParsers: [],
  failureMessage: undefined,
  quoteValues: true,
} satisfies BindingOptions;

/** Copies options, so that later changes of them have no effect. */
export const bindingSnapshot = (options: BindingOptions): BindingOptions =>
  snapshotOf(options, 'allowFormData', 'limits', 'openapi', 'responses', 'uploads');

/**
 * Merges an endpoint's options over the application's. Lists of parsers and converters are joined, the endpoint's
 * first.
 * @param owner the function that the endpoint's options were given to, for the message.
 */
export function mergeBinding(defaults: BindingOptions, given: BindingOptions, owner = 'bindRequest'): BindingOptions {
  checkOptions(owner, given, bindingRules);
  return {
    ...withDefaults(defaults, given),
    valueParsers: [...(given.valueParsers ?? []), ...(defaults.valueParsers ?? [])],
    ...mergeSerializer(defaults, given),
    limits: withDefaults(defaults.limits ?? {}, given.limits ?? {}),
  };
}
