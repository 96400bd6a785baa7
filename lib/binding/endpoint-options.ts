import type { Request } from 'express';
import { boolean, checkOptions, fn, object, objectWith, type Rule } from '../options/check';
import { withDefaults } from '../options/merge';
import { snapshotOf } from '../options/snapshot';
import { asPermissions, permissionsIn } from '../principal/permissions';
import { asClaims, principalOf, type Claims } from '../principal/principal';
import type { Binder } from './binder';
import { checkOperation, type OperationOptions } from './operation-options';
import type { BindingOptions, Modifier } from './options';
import { resolveLimits } from './reading/limits';
import { SerializerContext } from './responses/serializer-context';
import { mergeSerializer, responsesRule, serializerRules } from './types/serializer-options';
import type { ResolvedOptions } from './input/resolved-options';
import { uploadReader } from './input/uploads';
import type { ValueParser } from './types/value-parser';

const rules: Readonly<Record<keyof BindingOptions, Rule>> = {
  allowFormData: {
    expects: 'true, false or { urlEncoded: true }',
    accepts: value =>
      typeof value === 'boolean' ||
      (typeof value === 'object' && value !== null && (value as { urlEncoded?: unknown }).urlEncoded === true),
  },
  allowAnonymous: boolean,
  binder: {
    expects:
      'an object with a method bind(context, signal), or a function that makes one; for a class, pass an instance',
    accepts: isBinder,
  },
  modifier: fn,
  valueParsers: {
    expects: 'an array of results of valueParserFor()',
    accepts: value =>
      Array.isArray(value) && value.every(one => typeof (one as Partial<ValueParser> | null)?.parse === 'function'),
  },
  ...serializerRules,
  serializerContext: {
    expects: 'a result of serializerContext()',
    accepts: value => value instanceof SerializerContext,
  },
  responses: responsesRule,
  claims: fn,
  permissions: fn,
  failureMessage: fn,
  quoteValues: boolean,
  limits: object,
  uploads: objectWith('{ storage, directory } or a Multer'),
  openapi: object,
};

function isBinder(value: unknown): boolean {
  if (typeof value === 'function') return typeof (value.prototype as Partial<Binder> | undefined)?.bind !== 'function';
  return typeof (value as Partial<Binder> | null)?.bind === 'function';
}

/** The options of one endpoint, checked, with all defaults filled in. */
export interface EndpointOptions extends ResolvedOptions {
  readonly binder: BindingOptions['binder'];
  readonly modifier: Modifier | undefined;
  readonly operation: OperationOptions;
}

/** @throws TypeError for an unknown option or an invalid value. */
export function resolveOptions(given: BindingOptions): EndpointOptions {
  checkOptions('bindRequest', given, rules);
  const options = bindingSnapshot(given);
  const {
    allowFormData = false,
    allowAnonymous = true,
    claims = principalOf,
    permissions,
    uploads,
    valueParsers = [],
    responses = {},
    failureMessage,
    quoteValues = true,
    binder,
    modifier,
    openapi: operation = {},
  } = options;
  checkOperation(operation);
  const { types: contextTypes = {}, defaults = {} } = options.serializerContext ?? {};
  const limits = resolveLimits(options.limits);
  const callerOf = (req: Request): Claims | undefined => asClaims(claims(req));
  const serializer = mergeSerializer(mergeSerializer(defaults, options), contextTypes);
  return {
    allowMultipart: allowFormData !== false,
    allowUrlEncoded: typeof allowFormData === 'object',
    allowAnonymous,
    claims: callerOf,
    permissions: permissions ? req => asPermissions(permissions(req)) : req => permissionsIn(callerOf(req)),
    valueParsers,
    serializer: { propertyNamingPolicy: 'camelCase', ...serializer },
    writesInstances: serializer.propertyNamingPolicy !== undefined || serializer.converters.length > 0,
    responses: { ...contextTypes.responses, ...responses },
    failureMessage,
    quoteValues,
    limits,
    ...uploadReader(uploads, limits),
    binder,
    modifier,
    operation,
  };
}

/** Copies options, so that later changes of them have no effect. */
export const bindingSnapshot = (options: BindingOptions): BindingOptions =>
  snapshotOf(options, 'allowFormData', 'limits', 'openapi', 'responses', 'uploads');

/**
 * Merges an endpoint's options over the application's. Lists of parsers and converters are joined, the endpoint's
 * first.
 * @param owner the function that the endpoint's options were given to, for the message.
 */
export function mergeBinding(defaults: BindingOptions, given: BindingOptions, owner = 'bindRequest'): BindingOptions {
  checkOptions(owner, given, rules);
  return {
    ...withDefaults(defaults, given),
    valueParsers: [...(given.valueParsers ?? []), ...(defaults.valueParsers ?? [])],
    ...mergeSerializer(defaults, given),
    limits: withDefaults(defaults.limits ?? {}, given.limits ?? {}),
  };
}
