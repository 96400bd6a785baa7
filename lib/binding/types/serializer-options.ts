import { either, fn, oneOf, type Rule } from '../../options/check';
import type { GeneratedContexts } from '../reading/compile';
import type { JsonConverter } from './json-converter';
import { namingPolicies, type NamingPolicy, type NamingPolicyName } from './naming-policy';
import type { AnyType } from './property-type';

/** How JSON is read and written. */
export interface SerializerOptions {
  /** Makes the JSON name of a property from its name, unless it has a `jsonPropertyName`. Default `'camelCase'`. */
  propertyNamingPolicy?: NamingPolicyName | NamingPolicy;
  /**
   * Readers and writers for types without a JSON form, or with another one; an endpoint's come before those of
   * `configure()`. Default none.
   */
  converters?: readonly JsonConverter[];
  /**
   * Code that `npx bindonce generate` has compiled ahead of time; the function that it exports adds it here. Default
   * none: code is compiled when it is first used.
   */
  contexts?: readonly GeneratedContexts[];
}

/** Merges options over defaults. Lists are joined, those of the options first. */
export function mergeSerializer(
  defaults: SerializerOptions,
  given: SerializerOptions,
): SerializerOptions & Required<Pick<SerializerOptions, 'converters' | 'contexts'>> {
  const propertyNamingPolicy = given.propertyNamingPolicy ?? defaults.propertyNamingPolicy;
  return {
    ...(propertyNamingPolicy !== undefined && { propertyNamingPolicy }),
    converters: [...(given.converters ?? []), ...(defaults.converters ?? [])],
    contexts: [...(given.contexts ?? []), ...(defaults.contexts ?? [])],
  };
}

/** The types of responses by status. */
export type ResponseTypes = Readonly<Record<number, AnyType>>;

export const serializerRules: Readonly<Record<keyof SerializerOptions, Rule>> = {
  propertyNamingPolicy: either(oneOf(...Object.keys(namingPolicies)), fn),
  converters: {
    expects: 'an array of { type, read, write }',
    accepts: value => Array.isArray(value) && value.every(isConverter),
  },
  contexts: {
    expects: 'what the generated registerContexts() makes of the options',
    accepts: value => Array.isArray(value) && value.every(isContexts),
  },
};

export const responsesRule: Rule = {
  expects: 'an object of types by status, for example { 201: OrderView }',
  accepts: value =>
    typeof value === 'object' && value !== null && Object.keys(value).every(status => /^[1-5]\d\d$/.test(status)),
};

function isContexts(value: unknown): boolean {
  return typeof (value as Partial<GeneratedContexts> | null)?.functions === 'object';
}

function isConverter(value: unknown): boolean {
  const { type, read, write } = (value ?? {}) as Partial<JsonConverter>;
  return type !== undefined && typeof read === 'function' && typeof write === 'function';
}

export function namingPolicyOf({ propertyNamingPolicy = 'camelCase' }: SerializerOptions): NamingPolicy {
  return typeof propertyNamingPolicy === 'function' ? propertyNamingPolicy : namingPolicies[propertyNamingPolicy];
}
