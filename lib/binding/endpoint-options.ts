import type { Request } from 'express';
import { checkOptions } from '../options/check';
import { snapshotOf, withDefaults } from '../options/merge';
import { asPermissions, permissionsIn } from '../principal/permissions';
import { asClaims, principalOf, type Claims } from '../principal/principal';
import { checkOperation, type OperationOptions } from './operation-options';
import { bindingRules, type BindingOptions, type Modifier } from './options';
import { resolveLimits } from './reading/limits';
import { mergeSerializer } from './types/serializer-options';
import type { ResolvedOptions } from './input/resolved-options';
import type { AnyType } from './types/property-type';
import { FIELD_SOURCES } from './plan/source-properties';
import { uploadReader } from './input/uploads';

/** The options of one endpoint, checked, with all defaults filled in. */
export interface EndpointOptions extends ResolvedOptions {
  readonly binder: BindingOptions['binder'];
  readonly modifier: Modifier | undefined;
  readonly operation: OperationOptions;
}

/**
 * @param Dto the dto of the endpoint, by which its context is found.
 * @throws TypeError for an unknown option or an invalid value.
 */
export function resolveOptions(given: BindingOptions, Dto?: AnyType): EndpointOptions {
  checkOptions('bindRequest', given, bindingRules);
  const options = bindingSnapshot(given);
  const {
    allowFormData = false,
    allowAnonymous = true,
    fieldSources = FIELD_SOURCES,
    fallback = true,
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
  const context = options.serializerContext ?? options.contexts?.find(({ types }) => Dto && types.request === Dto);
  const { types: contextTypes = {}, defaults = {} } = context ?? {};
  const limits = resolveLimits(options.limits);
  const callerOf = (req: Request): Claims | undefined => asClaims(claims(req));
  const serializer = mergeSerializer(mergeSerializer(defaults, options), contextTypes);
  return {
    allowMultipart: allowFormData !== false,
    allowUrlEncoded: typeof allowFormData === 'object',
    allowAnonymous,
    fieldSources,
    fallback,
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
  checkOptions(owner, given, bindingRules);
  return {
    ...withDefaults(defaults, given),
    valueParsers: [...(given.valueParsers ?? []), ...(defaults.valueParsers ?? [])],
    ...mergeSerializer(defaults, given),
    limits: withDefaults(defaults.limits ?? {}, given.limits ?? {}),
  };
}
