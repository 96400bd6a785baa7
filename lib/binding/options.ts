import type { Request } from 'express';
import type { Multer } from 'multer';
import { arrayOf, boolean, checkOptions, fn, isClass, object, objectWith, oneOf, text } from '../options/check';
import type { Rule } from '../options/check';
import { snapshotOf, withDefaults } from '../options/merge';
import { asClaims, asPermissions, permissionsIn, principalOf, type Claims } from '../principal/principal';
import type { Binder, Modifier, ResolvedOptions } from './input/binder-context';
import { uploadReader, type UploadOptions } from './input/uploads';
import { FIELD_SOURCES } from './plan/plan';
import type { BindingFailure } from './reading/failures';
import { resolveLimits, type BindingLimits } from './reading/limits';
import type { SerializerContext } from './responses/json';
import type { AnyType } from './types/property-type';
import { mergeOptions, responsesRule, serializerRules } from './types/serializer';
import type { ResponseTypes, SerializerOptions, ValueParser } from './types/serializer';

/** Names of security schemes that a caller needs together, each with its scopes (OpenAPI 3.1, section 4.8.30). */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** The entry of an endpoint in the API description (OpenAPI 3.1, section 4.8.10). */
export interface OperationOptions {
  /** A short line. */
  summary?: string;
  /** Text, which may be Markdown. */
  description?: string;
  /** Names that group endpoints. */
  tags?: readonly string[];
  /** Name of the operation. Default: made from method and path. */
  operationId?: string;
  /** Marks the endpoint as deprecated. Default false. */
  deprecated?: boolean;
  /** Leaves the endpoint out. Default false. */
  hidden?: boolean;
  /**
   * How callers authenticate here: one of the objects, with all schemes that it names; `[]` for anyone. Default: as
   * claims and permissions say.
   */
  security?: readonly SecurityRequirement[];
  /** Examples of the request body: `{ small: { summary: 'One item', value: { … } } }`. */
  examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

/**
 * Options of `bindRequest()`.
 * @typeParam T the type of the endpoint's dto.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- options declared apart may be for any endpoint.
export interface BindingOptions<T = any> extends SerializerOptions {
  /**
   * `true`: multipart forms are accepted. `{ urlEncoded: true }`: urlencoded forms, too. Default false: forms get 415.
   */
  allowFormData?: boolean | { readonly urlEncoded: true };
  /** Media types that are JSON beside `application/json` and `…+json`. */
  jsonTypes?: readonly string[];
  /** When false, requests without a caller get 401. Default true. */
  allowAnonymous?: boolean;
  /**
   * Where a bare type and `field()` bind from. `['json']`: no form, route or query can set such a value. Default all
   * four; a later one overwrites an earlier one.
   */
  fieldSources?: readonly ('json' | 'form' | 'route' | 'query')[];
  /**
   * Whether a missing claim, header or cookie with `required: false` is read from body, form, route or query, where a
   * client can send any value. Default true.
   */
  fallback?: boolean;
  /** `'refuse'`: a name in JSON, form or query that no property takes is a failure. Default `'ignore'`. */
  unknownNames?: 'ignore' | 'refuse';
  /** Makes the dto instead of the built-in binder; or a function that gets the Dto, once, and returns the binder. */
  binder?: BinderObject<T> | ((Dto: AnyType) => Binder<T>);
  /** Called after the binder for each request without failures; may change the dto, or report failures. */
  modifier?: Modifier<T>;
  /** Parsers, made by `valueParserFor`, that come before the types' own. */
  valueParsers?: readonly ValueParser[];
  /** The reader and writer of this endpoint's JSON. */
  serializerContext?: SerializerContext;
  /** Types of the responses by status: `res.json()` writes the declared properties and nothing else. */
  responses?: ResponseTypes;
  /** The claims of the caller. Default: `req.auth` (a function is called), or the `payload` in it; else `req.user`. */
  claims?: (req: Request) => Claims | null | undefined;
  /** The permissions of the caller. Default: the `permissions` claim, else `scope`. */
  permissions?: (req: Request) => Iterable<string>;
  /** Returns a text instead of a failure's own, or undefined to keep it. */
  failureMessage?: (failure: BindingFailure, req: Request) => string | undefined;
  /** When false, failures repeat no refused value. Default true; claims, cookies and credentials are never repeated. */
  quoteValues?: boolean;
  /** Limits of one request. */
  limits?: BindingLimits;
  /** Where files go: memory (default), disk, or a Multer of your own. */
  uploads?: UploadOptions | Multer;
  /** The entry of the endpoint in the API description. */
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

/** What each option must be. */
const bindingRules: Readonly<Record<keyof BindingOptions, Rule>> = {
  allowFormData: {
    expects: 'true, false or { urlEncoded: true }',
    accepts: value => boolean.accepts(value) || (Object(value) as { urlEncoded?: unknown }).urlEncoded === true,
  },
  jsonTypes: arrayOf('media types without parameters', one => /^[^\s/;,]+\/[^\s/;,]+$/.test(String(one))),
  allowAnonymous: boolean,
  fieldSources: arrayOf(FIELD_SOURCES.join(', '), one => FIELD_SOURCES.some(source => source === one)),
  ...{ fallback: boolean, unknownNames: oneOf('ignore', 'refuse') },
  binder: {
    expects:
      'an object with a method bind(context, signal), or a function that makes one; for a class, pass an instance',
    accepts: isBinder,
  },
  modifier: fn,
  valueParsers: arrayOf('results of valueParserFor()', one => objectWith('', 'parse').accepts(one)),
  ...serializerRules,
  // One of another copy of this package is one, too.
  serializerContext: objectWith('a result of serializerContext()', 'read', 'write'),
  responses: responsesRule,
  ...{ claims: fn, permissions: fn, failureMessage: fn, quoteValues: boolean, limits: object },
  uploads: objectWith('{ storage, directory } or a Multer'),
  openapi: object,
};

/** A class is no binder, and may be compiled to a function. */
function isBinder(value: unknown): boolean {
  const { bind } = Object(typeof value === 'function' ? value.prototype : value) as Partial<Binder>;
  return typeof value === 'function' ? !isClass(value) && typeof bind !== 'function' : typeof bind === 'function';
}

/** Excludes functions, which the compiler takes for binders because of `Function.prototype.bind`. */
type BinderObject<T> = Binder<T> & { readonly [Symbol.hasInstance]?: never };

const defaults = {
  ...{ allowFormData: false, allowAnonymous: true, fieldSources: FIELD_SOURCES, fallback: true },
  ...{ unknownNames: 'ignore', claims: principalOf, failureMessage: undefined, quoteValues: true },
  jsonTypes: [] as readonly string[],
  valueParsers: [] as readonly ValueParser[],
} satisfies BindingOptions;

/**
 * @param Dto the dto of the endpoint, by which its context is found.
 * @throws TypeError for an unknown option or an invalid value.
 */
export function resolveOptions(
  given: BindingOptions,
  Dto?: AnyType,
): ResolvedOptions & Pick<BindingOptions, 'openapi'> {
  checkOptions('bindRequest', given, bindingRules);
  const options = mergeOptions(defaults, given);
  const { allowFormData, claims, permissions, uploads } = options;
  checkOptions('bindRequest: openapi', options.openapi ?? {}, operationRules);
  const context = options.serializerContext ?? options.contexts.find(({ types }) => Dto && types.request === Dto);
  const { responses, ...ofContext } = context?.types ?? {};
  const { propertyNamingPolicy, decimals = 'number', converters, contexts } = mergeOptions(options, ofContext);
  const limits = resolveLimits(options.limits);
  const callerOf = (req: Request): Claims | undefined => asClaims(claims(req));
  return {
    ...options,
    jsonTypes: options.jsonTypes.map(type => type.toLowerCase()),
    allowMultipart: allowFormData !== false,
    allowUrlEncoded: typeof allowFormData === 'object',
    claims: callerOf,
    permissions: permissions ? req => asPermissions(permissions(req)) : req => permissionsIn(callerOf(req)),
    serializer: { propertyNamingPolicy: propertyNamingPolicy ?? 'camelCase', decimals, converters, contexts },
    writesInstances: propertyNamingPolicy !== undefined || converters.length > 0,
    responses: { ...responses, ...options.responses },
    limits,
    readUpload: uploadReader(uploads, limits),
  };
}

/** Merges an endpoint's options over the application's. */
export function mergeBinding(defaults: BindingOptions, given: BindingOptions): BindingOptions {
  checkOptions('bindRequest', given, bindingRules);
  const limits = withDefaults(defaults.limits ?? {}, given.limits ?? {});
  // What the application changes later has no effect.
  const copy = snapshotOf(given, 'allowFormData', 'openapi', 'responses', 'uploads');
  return { ...mergeOptions(defaults, copy), limits };
}
