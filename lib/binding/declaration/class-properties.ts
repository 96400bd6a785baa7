import { isDeepStrictEqual } from 'node:util';
import { describe } from '../../options/check';
import { ownValue } from '../reading/json-text';
import { classNameOf } from '../types/class-name';
import type { DtoClass } from '../types/property-type';
import { namingErrors } from './declaration-error';
import { declarationsOf, type Declarations } from './declarations';
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
 * Takes initialisers (`rush = false`) as defaults: a property that a new instance has may be missing, unless its
 * declaration says `required: true`. A required permission stays required.
 */
function withInitialisers(Dto: DtoClass<unknown>, declared: Declarations): Declarations {
  if (declared.size === 0) return declared;
  const [sample, another] = namingErrors(
    `${classNameOf(Dto)}: its constructor failed when called without arguments`,
    () => [new Dto() as object, new Dto() as object] as const,
  );
  return new Map(
    [...declared].map(([name, spec]) => {
      const value = ownValue(sample, name);
      if (spec.kind === 'hasPermission') checkPermission(value, `${classNameOf(Dto)}.${name}`);
      if (value === undefined || spec.requiresValue || spec.kind === 'hasPermission') return [name, spec];
      // An identifier or the time is another one for each instance; two dates that are made at once can be equal.
      const isTheSame = isDeepStrictEqual(value, ownValue(another, name));
      const isShown = isTheSame && (spec.default !== undefined || !(value instanceof Date));
      return [name, Object.assign({}, spec, { required: false, initial: isShown ? value : undefined })];
    }),
  );
}

/** @throws TypeError for an initialiser that is neither true nor false. */
function checkPermission(value: unknown, property: string): void {
  if (value !== undefined && typeof value !== 'boolean')
    throw new TypeError(
      `${property} is ${describe(value)} at first, but hasPermission makes it true or false. Declare it as a boolean`,
    );
}
