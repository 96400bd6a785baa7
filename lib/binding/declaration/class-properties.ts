import { isDeepStrictEqual } from 'node:util';
import { extended } from '../../basics/extended';
import { describe } from '../../options/check';
import { ownValue } from '../reading/own-value';
import { classNameOf } from '../types/class-name';
import type { DtoClass } from '../types/property-type';
import { bareInstance } from './bare-instance';
import { namingErrors } from './declaration-error';
import { hasMadeDefaults } from './default-value';
import { baseClasses, declarationsOf, ownDeclarationsOf, type Declarations } from './declarations';
import type { PropertySpec } from './property';

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

/**
 * Takes initialisers (`rush = false`) as defaults: such a property may be missing, unless its declaration says
 * `required: true`. A required permission stays required.
 */
function withInitialisers(Dto: DtoClass<unknown>, properties: Declarations): Declarations {
  if (properties.size === 0) return properties;
  const sample = sampleOf(Dto);
  return new Map(
    [...properties].map(([name, spec]) => {
      checkIsSettable(sample, name, classNameOf(Dto));
      const found = ownValue(sample, name);
      if (mustSayRequired(spec) && isInherited(found, name, Dto))
        throw unclear(`${classNameOf(Dto)}.${name}`, found, spec);
      const replacesInherited = spec.default !== undefined && isInherited(found, name, Dto);
      const initial = replacesInherited ? undefined : found;
      checkInitialiser(initial, spec, `${classNameOf(Dto)}.${name}`);
      const mayBeInitial = !spec.requiresValue && spec.kind !== 'hasPermission';
      const required = spec.required && !(mayBeInitial && initial !== undefined);
      const isMadeByClass = Object.hasOwn(sample, name);
      const makeInitial = (): unknown => ownValue(bareInstance(Dto) as object, name);
      return [name, extended(spec, { required, initial, makeInitial, replacesInherited, isMadeByClass })];
    }),
  );
}

/**
 * Returns true if the initialiser of a property is, or may be, that of a base class. Fields that are compiled to
 * assignments (`useDefineForClassFields: false`) leave it in place where the derived class declares the property again.
 */
function isInherited(value: unknown, name: string, Dto: DtoClass<unknown>): boolean {
  const declaring = [...baseClasses(Dto)].find(one => [...ownDeclarationsOf(one)].some(own => own.has(name)));
  const base: unknown = declaring && Object.getPrototypeOf(declaring);
  if (value === undefined || typeof base !== 'function' || base === Function.prototype) return false;
  const made = (): unknown => ownValue(bareInstance(base as DtoClass<unknown>) as object, name);
  try {
    const inherited = made();
    // A base class may make another value for each instance, such as an id.
    return isDeepStrictEqual(inherited, value) || !isDeepStrictEqual(inherited, made());
  } catch {
    // A base class that cannot be made by itself.
    return false;
  }
}

/**
 * Returns true for a claim, header or cookie that is required, as far as its own declaration says. A value that remains
 * of a base class must not silently stand in for what decides about identity and rights.
 */
const mustSayRequired = ({ kind, required, requiresValue }: PropertySpec): boolean =>
  (kind === 'fromClaim' || kind === 'fromHeader' || kind === 'fromCookie') && required && !requiresValue;

/** Makes the error for a property of which it is not known whether it is required. */
const unclear = (property: string, found: unknown, { kind }: PropertySpec): TypeError =>
  new TypeError(
    `${property} is ${describe(found)} at first, as in its base class, so it is not clear whether ${kind} requires a ` +
      'value. Add required: true, or a default',
  );

/** @throws TypeError for a permission with an initialiser that is neither true nor false. */
function checkInitialiser(initial: unknown, { kind }: PropertySpec, property: string): void {
  if (kind === 'hasPermission' && initial !== undefined && typeof initial !== 'boolean')
    throw new TypeError(
      `${property} is ${describe(initial)} at first, but hasPermission makes it true or false. Declare it as a boolean`,
    );
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
  const without = hasMadeDefaults(Dto)
    ? 'without arguments, and without the defaults that functions make'
    : 'without arguments';
  return namingErrors(
    `${classNameOf(Dto)}: its constructor failed when called ${without}`,
    () => bareInstance(Dto) as object,
  );
}
