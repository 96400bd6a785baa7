import { arrayOf, either, fn, object, objectWith, oneOf, type Rule } from '../../options/check';
import { withDefaults } from '../../options/merge';
import type { AnyType } from './property-type';
import type { JsonConverter, ValueParser } from './value-parser';

/** Makes the JSON name of a property from its name. */
export type NamingPolicy = (name: string) => string;

/** A naming policy of bindonce, which is named as it writes names. */
export type NamingPolicyName = 'camelCase' | 'snake_case' | 'kebab-case' | 'PascalCase';

/**
 * Splits a name into words: `customerID` into customer, ID; `URLPath` into URL, Path. Digits belong to the word before
 * them, and underscores around the name to its first and its last word: `_id` and `id` are two names.
 */
const words = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/(?<!^_*)[\s_-](?!_*$)/);

const namingPolicies: Readonly<Record<NamingPolicyName, NamingPolicy>> = {
  /** Makes the leading capitals small: `CustomerId` becomes customerId, `URLPath` becomes urlPath. */
  camelCase: name => name.replace(/^[A-Z]+(?![a-z])|^[A-Z]/, start => start.toLowerCase()),
  snake_case: name => words(name).join('_').toLowerCase(),
  'kebab-case': name => words(name).join('-').toLowerCase(),
  PascalCase: name =>
    words(name)
      .map(word => word.replace(/^_*./, start => start.toUpperCase()))
      .join(''),
};

/** How JSON is read and written. */
export interface SerializerOptions {
  /** Makes the JSON name of a property that has no `jsonPropertyName`. Default `'camelCase'`. */
  propertyNamingPolicy?: NamingPolicyName | NamingPolicy;
  /**
   * `'text'`: a `decimal` is written as `"4.5"`, which no client rounds; `'number'`: as `4.5`. Both are read. Default
   * `'number'`.
   */
  decimals?: 'number' | 'text';
  /** Readers and writers for types without a JSON form, or with another one. */
  converters?: readonly JsonConverter[];
  /** Contexts by their `request`, for endpoints without a `serializerContext`; `npx bindonce generate` writes them. */
  contexts?: GeneratedContexts;
}

/** The types of a serializer context, and its options. */
export interface SerializerTypes<Q extends AnyType = AnyType> extends SerializerOptions {
  /** Type of the JSON that is read. */
  readonly request?: Q;
  /** Types of the JSON that is written, by status. */
  readonly responses?: ResponseTypes;
}

/** Results of `serializerContext()`, as far as an endpoint uses them: the types of each, and its options. */
export type GeneratedContexts = readonly { readonly types: SerializerTypes }[];

interface Lists extends Pick<SerializerOptions, 'converters' | 'contexts'> {
  readonly valueParsers?: readonly ValueParser[];
}

/**
 * Merges options over defaults. One that is `undefined` counts as absent; lists are joined, those of the options first.
 */
export function mergeOptions<D extends Lists, G extends Lists>(defaults: D, given: G): D & G & Required<Lists> {
  return {
    ...withDefaults(defaults, given),
    valueParsers: [...(given.valueParsers ?? []), ...(defaults.valueParsers ?? [])],
    converters: [...(given.converters ?? []), ...(defaults.converters ?? [])],
    contexts: [...(given.contexts ?? []), ...(defaults.contexts ?? [])],
  };
}

/** The types of responses by status. */
export type ResponseTypes = Readonly<Record<number, AnyType>>;

const isConverter = (one: unknown): boolean =>
  objectWith('', 'read', 'write').accepts(one) && (one as { type?: unknown }).type !== undefined;
const isContext = (one: unknown): boolean => object.accepts((Object(one) as { types?: unknown }).types);

export const serializerRules: Readonly<Record<keyof SerializerOptions, Rule>> = {
  propertyNamingPolicy: either(oneOf(...Object.keys(namingPolicies)), fn),
  decimals: oneOf('number', 'text'),
  converters: arrayOf('{ type, read, write }', isConverter),
  contexts: arrayOf('serializer contexts', isContext),
};

export const responsesRule: Rule = {
  expects: 'an object of types by status, for example { 201: OrderView }',
  accepts: value => object.accepts(value) && Object.keys(value as object).every(status => /^[1-5]\d\d$/.test(status)),
};

export function namingPolicyOf({ propertyNamingPolicy = 'camelCase' }: SerializerOptions): NamingPolicy {
  return typeof propertyNamingPolicy === 'function' ? propertyNamingPolicy : namingPolicies[propertyNamingPolicy];
}
