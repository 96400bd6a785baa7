import BigNumber = require('bignumber.js');
import { anything, arrayOf, boolean, checkOptions, headerName, text, type Rule } from '../../options/check';
import { isPlain } from '../../options/merge';
import { SOURCES, type Source } from '../../problems/problem';
import type { Member } from '../types/codec';
import { isOptional, refusesNull, type AnyType } from '../types/property-type';
import { Version } from '../types/scalar';

/** The declaration of a property. */
export interface PropertySpec extends Omit<Member, 'codec' | 'jsonName'> {
  readonly kind: PropertyKind;
  readonly type: AnyType;
  readonly jsonPropertyName: string | undefined;
  /** True if the options say `required: true`: then an initialiser is not used. */
  readonly requiresValue: boolean;
}

/** The compiler's error for a decorator on a property of another type. */
interface WrongPropertyType<V> {
  readonly 'the declared type of this property must accept': V;
}

/**
 * Compares types: `unknown`, which changes nothing in an intersection, if a property declared as `Declared` can hold a
 * `V`.
 */
export type Fits<V, Declared> = [V] extends [Declared] ? unknown : WrongPropertyType<V>;

/** A default value, or a function that makes it. */
type Default<T> = (T extends readonly (infer I)[] ? readonly I[] : T) | (() => T);

/** How a property is bound: the options of `field`, `fromHeader` and the other functions that declare one. */
export interface PropertyOptions<T = unknown> {
  /** Name of the claim, header or cookie. Default: the property's name. */
  readonly name?: string;
  /** Name of the form field, route or query parameter. Default: the property's name. */
  readonly bindFrom?: string;
  /** Name in JSON. Default: the property's name under the naming policy. */
  readonly jsonPropertyName?: string;
  /** Sources that must not bind to the property. */
  readonly dontBind?: readonly Source[];
  /**
   * Whether the value must be sent. With false, **a client can send a missing claim, header or cookie in body, form,
   * route or query** (see `fallback`). Default true, unless the type is optional or there is a default.
   */
  readonly required?: boolean | undefined;
  /** When true, the JSON body itself must have the value. Default false. */
  readonly jsonRequired?: boolean;
  /** The value if no source has one: plain data, which is copied for each request, or a function that makes it. */
  readonly default?: Default<T>;
  /** Text about the property for the API description. */
  readonly description?: string;
  /**
   * With `required: false`: whether a missing claim, header or cookie is read from body, form, route or query. Set
   * false for what decides about identity or rights. Default: the option `fallback` of `bindRequest()`.
   */
  readonly fallback?: boolean | undefined;
  /**
   * When true, the cookie is one that cookie-parser has verified (`req.signedCookies`), and `fallback` is false by
   * default. Default false: the client can send any cookie.
   */
  readonly signed?: boolean;
}

const COMMON = ['required', 'jsonRequired', 'default', 'description'] as const;
const SINGLE = ['bindFrom', ...COMMON] as const;
const NAMED = ['name', 'fallback', 'bindFrom', 'jsonPropertyName', 'dontBind', ...COMMON] as const;

/** The options that each kind of property has. */
export const OPTIONS = {
  field: ['bindFrom', 'jsonPropertyName', 'dontBind', ...COMMON],
  jsonField: ['jsonPropertyName', ...COMMON],
  ...{ formField: SINGLE, queryParam: SINGLE, routeParam: SINGLE },
  ...{ fromClaim: NAMED, fromHeader: NAMED, fromCookie: [...NAMED, 'signed'] },
  hasPermission: ['required'],
  ...{ fromBody: [], fromForm: [], fromQuery: [], plainText: [] },
} as const satisfies Readonly<Record<string, readonly (keyof PropertyOptions)[]>>;

/** How a property is declared: the name of the function. */
export type PropertyKind = keyof typeof OPTIONS;

const aName: Rule = { expects: 'a name', accepts: value => typeof value === 'string' && value !== '' };

const rules: Readonly<Record<keyof PropertyOptions, Rule>> = {
  ...{ name: aName, bindFrom: aName, jsonPropertyName: text, description: text },
  ...{ required: boolean, jsonRequired: boolean, fallback: boolean, signed: boolean, default: anything },
  dontBind: arrayOf(SOURCES.join(', '), source => SOURCES.some(one => one === source)),
};

/** The sources that could supply a nested object, except JSON. */
const NOT_JSON: readonly Source[] = ['form', 'route', 'query', 'claim', 'header', 'cookie'];

/**
 * Makes a declaration, with the defaults of its options.
 * @param ownName the name of a permission, which is not an option.
 */
export function specOf(
  kind: PropertyKind,
  property: string,
  type: AnyType,
  options: PropertyOptions = {},
  ownName = options.name ?? property,
): PropertySpec {
  const { bindFrom: bindName = property, jsonPropertyName, signed = false, description } = options;
  const { required = !isOptional(type) && options.default === undefined, jsonRequired = false } = options;
  const dontBind = kind === 'jsonField' ? NOT_JSON : (options.dontBind ?? []);
  // Only `required: false` enables the fallback. With `fromClaim(optional(bool))`, or with a default,
  // `?isAdmin=true` must be ignored.
  const fallback = options.required === false ? (options.fallback ?? (signed ? false : undefined)) : false;
  return {
    ...{ kind, property, type, bindName, ownName, jsonPropertyName, required, jsonRequired, dontBind, fallback },
    ...{ requiresValue: options.required === true, refusesNull: refusesNull(type) },
    ...{ signed, description, default: options.default },
  };
}

/**
 * Checks the options of a property.
 * @throws TypeError for an option that this kind of property does not have, or an invalid value, also the default of
 * one.
 */
export function checkProperty(kind: PropertyKind, options: PropertyOptions): void {
  const own = kind === 'fromHeader' ? { ...rules, name: headerName } : rules;
  checkOptions(kind, options, Object.fromEntries(OPTIONS[kind].map(name => [name, own[name]])));
  // A default that cannot be copied would be shared by all requests.
  if (typeof options.default !== 'function') copyOf(options.default);
}

/** Makes the default value for one request, by its function or as a copy: no request sees another's changes. */
export const defaultOf = ({ default: value }: { readonly default?: unknown }): unknown =>
  typeof value === 'function' ? (value as () => unknown)() : copyOf(value);

/** Copies plain data, and the values of our types. @throws TypeError for another object. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  // Neither can be changed.
  if (BigNumber.isBigNumber(value) || value instanceof Version) return value;
  if (value instanceof Date) return new Date(value);
  if (value instanceof URL) return new URL(value);
  if (isPlain(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copyOf(one)]));
  throw new TypeError(
    `the default has an instance of ${value.constructor.name || 'a class without a name'}, which could be ` +
      'changed, and all requests would share it; pass a function that makes the default',
  );
}
