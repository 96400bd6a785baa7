import { isDeepStrictEqual } from 'node:util';
import type { ProblemLocation } from '../../problems/problem';
import { ownValue } from '../reading/own-value';
import type { AnyType, DtoClass } from '../types/property-type';
import { namingErrors } from './declaration-error';
import type { Comparable } from './fits';

/** The sources that a property can bind from. */
export type Source = Exclude<ProblemLocation, 'body'>;

/** How a property is declared: the name of the function. */
export type PropertyKind =
  | 'field'
  | 'formField'
  | 'queryParam'
  | 'routeParam'
  | 'fromBody'
  | 'fromForm'
  | 'fromQuery'
  | 'fromClaim'
  | 'fromHeader'
  | 'fromCookie'
  | 'hasPermission'
  | 'plainText';

/** The declaration of a property. */
export interface PropertySpec extends PropertyOptions {
  readonly kind: PropertyKind;
  readonly type: AnyType;
  readonly required: boolean;
  readonly fallback: boolean;
  /** True if the options say `required: true`: then a default or an initialiser is no value. */
  readonly requiresValue?: boolean;
  /**
   * True if the class itself makes the property, with or without a value: compiled fields do
   * (`useDefineForClassFields`).
   */
  readonly isMadeByClass?: boolean;
  /** The value of the initialiser, if there is one. It counts more than `default`. */
  readonly initial?: unknown;
  /** True if the class makes the value of a base class, and declares a default of its own. */
  readonly replacesInherited?: boolean;
}

/** A default value, or a function that makes it. */
type Default<T> = Comparable<T> | (() => Comparable<T>);

export interface PropertyOptions<T = unknown> {
  /** Name of the claim, header, cookie or permission. Default: the property's name. */
  readonly name?: string;
  /** Name of the form field, route parameter or query parameter. Default: the property's name. */
  readonly bindFrom?: string;
  /** Name of the JSON field. Default: the property's name under the naming policy. */
  readonly jsonPropertyName?: string;
  /** Sources that must not bind to the property. */
  readonly dontBind?: readonly Source[];
  /**
   * When false, the value may be missing; **for a claim, header or cookie, a client can then send any value in body,
   * form, route or query** (see `fallback`). When true, the value must be sent, and a default or an initialiser is not
   * used. Default true, unless the type is optional or there is a default or an initialiser.
   */
  readonly required?: boolean | undefined;
  /**
   * When true, the JSON body itself must contain the value, even if another source has it; no effect on a property that
   * does not bind from JSON (`routeParam` and others of one source, `dontBind`, a file, or beside `fromBody` or
   * `plainText`). Default false.
   */
  readonly jsonRequired?: boolean;
  /**
   * The value if no source has one, which is copied for each request, or a function that makes it. An instance of a
   * class of yours must be made by a function, or be frozen.
   */
  readonly default?: Default<T>;
  /** Text about the property for the API description. */
  readonly description?: string;
  /**
   * When true, which needs `required: false`, a claim, header or cookie that the request lacks is read from body, form,
   * route or query, where a client can send any value; set false for anything that decides about identity or rights.
   * Default true with `required: false`, otherwise false.
   */
  readonly fallback?: boolean;
}

/**
 * Key of a class's declarations: on the class itself (dto({...}), legacy decorators) or on its metadata object
 * (standard decorators). `Symbol.for`, so that two copies of this package understand each other's classes.
 */
const PROPERTIES = Symbol.for('bindonce.properties');

type Declarations = Map<string, PropertySpec>;
interface Declared {
  [PROPERTIES]?: Declarations;
}

/**
 * Adds a declaration to a class or its metadata object; inherited declarations stay as they are.
 * @throws TypeError for a name that no property can have, and for a second declaration of a property in one class.
 */
export function declareProperty(holder: object, name: string, spec: PropertySpec): void {
  if (name === '__proto__')
    throw new TypeError(
      'a property cannot be named __proto__; give it another name, ' +
        'and a jsonPropertyName or bindFrom if clients use that name',
    );
  const declared = Object.hasOwn(holder, PROPERTIES) ? (holder as Declared)[PROPERTIES]?.get(name) : undefined;
  if (declared)
    throw new TypeError(
      `${name}: it is declared twice, with ${declared.kind} and with ${spec.kind}; use one of them, with all options`,
    );
  if (!Object.hasOwn(holder, PROPERTIES))
    Object.defineProperty(holder, PROPERTIES, { value: new Map(), configurable: true });
  (holder as Declared)[PROPERTIES]?.set(name, spec);
}

const known = new WeakMap<DtoClass<unknown>, ReadonlyMap<string, PropertySpec>>();

/**
 * Returns the declared properties of a class and its base classes; a derived class's declaration replaces its base's.
 * A class is complete before it can be used, so that each is looked at once.
 */
export function propertiesOf(Dto: DtoClass<unknown>): ReadonlyMap<string, PropertySpec> {
  const properties =
    known.get(Dto) ?? withInitialisers(Dto, new Map([...declarationsOf(Dto)].reverse().flatMap(one => [...one])));
  known.set(Dto, properties);
  return properties;
}

/** Returns true if a class has declarations, its own or inherited. */
export function isDto(type: unknown): type is DtoClass<unknown> {
  return typeof type === 'function' && declarationsOf(type).next().done === false;
}

/** Yields the declarations of a class and then those of its base classes. */
function* declarationsOf(Dto: object): Generator<Declarations> {
  for (const own of baseClasses(Dto)) yield* ownDeclarationsOf(own);
}

/** Yields the declarations of a class itself. */
function* ownDeclarationsOf(own: object): Generator<Declarations> {
  for (const holder of [metadataOf(own), own]) {
    const declared = holder && Object.hasOwn(holder, PROPERTIES) ? (holder as Declared)[PROPERTIES] : undefined;
    if (declared) yield declared;
  }
}

/**
 * Takes initialisers (`rush = false`) as defaults: such a property may be missing, unless its declaration says
 * `required: true`. A required permission stays required.
 */
function withInitialisers(Dto: DtoClass<unknown>, properties: Declarations): Declarations {
  if (properties.size === 0) return properties;
  const sample = sampleOf(Dto);
  return new Map(
    [...properties].map(([name, spec]) => {
      checkIsSettable(sample, name, Dto.name);
      const replacesInherited = spec.default !== undefined && isInherited(ownValue(sample, name), name, Dto);
      const initial = replacesInherited ? undefined : ownValue(sample, name);
      const mayBeInitial = !spec.requiresValue && spec.kind !== 'hasPermission';
      const required = spec.required && !(mayBeInitial && initial !== undefined);
      return [name, { ...spec, required, initial, replacesInherited, isMadeByClass: Object.hasOwn(sample, name) }];
    }),
  );
}

/**
 * Returns true if the initialiser of a property is that of a base class. Fields that are compiled to assignments
 * (`useDefineForClassFields: false`) leave it in place where the derived class declares the property again.
 */
function isInherited(value: unknown, name: string, Dto: DtoClass<unknown>): boolean {
  const declaring = [...baseClasses(Dto)].find(one => [...ownDeclarationsOf(one)].some(own => own.has(name)));
  const base: unknown = declaring && Object.getPrototypeOf(declaring);
  if (value === undefined || typeof base !== 'function' || base === Function.prototype) return false;
  try {
    return isDeepStrictEqual(ownValue(new (base as DtoClass<unknown>)() as object, name), value);
  } catch {
    // A base class that cannot be made by itself.
    return false;
  }
}

/** @throws TypeError for a property that no value can be bound to. */
function checkIsSettable(sample: object, name: string, owner: string): void {
  const [found] = [...baseClasses(sample)].flatMap(one => Object.getOwnPropertyDescriptor(one, name) ?? []);
  if (found ? (found.writable ?? found.set !== undefined) : Object.isExtensible(sample)) return;
  throw new TypeError(
    `${owner}.${name} cannot be set: it is read-only (a getter without a setter, or a constructor that freezes). ` +
      'Make it a plain property, or leave it out of the declaration',
  );
}

function sampleOf(Dto: DtoClass<unknown>): object {
  return namingErrors(`${Dto.name}: its constructor failed when called without arguments`, () => new Dto() as object);
}

function* baseClasses(Dto: object): Generator<object> {
  for (
    let one: object | null = Dto;
    one !== null && one !== Function.prototype;
    one = Object.getPrototypeOf(one) as object | null
  )
    yield one;
}

function metadataOf(Dto: object): object | undefined {
  return Object.hasOwn(Dto, Symbol.metadata) ? (Dto as { [Symbol.metadata]?: object })[Symbol.metadata] : undefined;
}
