import { requireObject } from '../../options/check';
import type { ObjectCodec } from '../types/codec';
import { enumOf } from '../types/scalar';
import { classNameOf, type DtoClass, type ValueType } from '../types/property-type';
import { memberOf, objectCodec } from './codec-table';
import { declareAll, isDto, propertiesOf } from './declarations';
import { specOf, type PropertySpec } from './property';

/** The names of the properties that a dto may declare: a derived class has no methods. */
type NamesOf<T> = { [K in keyof T & string]: T[K] extends (...args: never) => unknown ? never : K }[keyof T & string];

/**
 * Makes a dto class with the properties of another one, all of which may be missing. One that was not sent is not a key
 * of the dto, and JSON null is refused unless the type is `nullable`: `{ ...entity, ...dto }` is the changed entity.
 * There are no defaults, and permissions stay required.
 */
export function partial<T>(Dto: DtoClass<T>): DtoClass<{ [K in NamesOf<T>]?: T[K] }> {
  const optional = { required: false, requiresValue: false, jsonRequired: false, refusesNull: true };
  const change = (spec: PropertySpec): PropertySpec =>
    spec.kind === 'hasPermission' ? spec : { ...spec, ...optional, default: undefined };
  const changed = new Map([...declaredBy(Dto, 'partial')].map(([name, spec]) => [name, change(spec)]));
  return derived(`Partial${classNameOf(Dto)}`, changed, () => ({}));
}

/** Makes a dto class of some properties of another one, with their defaults and initialisers. */
export const pick = <T, const K extends NamesOf<T>>(Dto: DtoClass<T>, names: readonly K[]): DtoClass<Pick<T, K>> =>
  keeping('Pick', Dto, names, true);

/** Makes a dto class of the other properties of another one, with their defaults and initialisers. */
export const omit = <T, const K extends NamesOf<T>>(
  Dto: DtoClass<T>,
  names: readonly K[],
): DtoClass<Pick<T, Exclude<NamesOf<T>, K>>> => keeping('Omit', Dto, names, false);

/** @throws TypeError for a name that the class does not declare. */
function keeping<T>(
  prefix: 'Pick' | 'Omit',
  Dto: DtoClass<unknown>,
  names: readonly string[],
  keeps: boolean,
): DtoClass<T> {
  const owner = prefix.toLowerCase();
  const declared = declaredBy(Dto, owner);
  const unknown = names.find(name => !declared.has(name));
  if (unknown !== undefined)
    throw new TypeError(
      `${owner}: ${classNameOf(Dto)} declares no property "${unknown}"; there are: ${[...declared.keys()].join(', ')}`,
    );
  const kept = new Map([...declared].filter(([name]) => names.includes(name) === keeps));
  return derived<T>(`${prefix}${classNameOf(Dto)}`, kept, () => new Dto() as object);
}

function declaredBy(Dto: DtoClass<unknown>, owner: string): ReadonlyMap<string, PropertySpec> {
  if (!isDto(Dto)) throw new TypeError(`${owner} takes a dto class, one with declared properties`);
  return propertiesOf(Dto);
}

/** @param make makes the values that a new instance has at first, and others. */
function derived<T>(name: string, specs: ReadonlyMap<string, PropertySpec>, make: () => object): DtoClass<T> {
  function Derived(this: object): void {
    for (const [property, value] of Object.entries(make()))
      if (specs.has(property)) Object.assign(this, { [property]: value as unknown });
  }
  declareAll(Derived, specs.values());
  return Object.defineProperty(Derived, 'name', { value: name }) as unknown as DtoClass<T>;
}

/** The values of `oneOf`: an instance of the class of one branch, with the tag. */
export type OneOf<Tag extends string, B extends Readonly<Record<string, DtoClass<object>>>> = {
  [K in keyof B & string]: InstanceType<B[K]> & Record<Tag, K>;
}[keyof B & string];

/**
 * An object of one of several dto classes. A property that none of them declares, the tag, says which one:
 * `oneOf('kind', { card: Card, iban: Iban })` reads `{ "kind": "card", "number": "4111…" }` as a Card whose `kind` is
 * `'card'`.
 * @param tag the name of the property, which the naming policy changes in JSON as it does any other.
 * @param branches the classes by the value of the tag.
 * @throws TypeError for something else than dto classes, and for one that has the tag itself.
 */
export function oneOf<const Tag extends string, const B extends Readonly<Record<string, DtoClass<object>>>>(
  tag: Tag,
  branches: B,
): ValueType<OneOf<Tag, B>> {
  checkBranches(tag, branches);
  const classes = Object.entries<DtoClass<object>>(branches);
  const name = classes.map(([, Dto]) => classNameOf(Dto) || 'object').join(' or ');
  const declared = (values: readonly string[]): PropertySpec => specOf('field', tag, enumOf(values));
  return {
    codec(codecs) {
      const branchOf = ([value, Dto]: readonly [string, DtoClass<object>]): readonly [string, ObjectCodec] => {
        const { kind, name: read } = codecs.of(Dto);
        if (kind === 'object') return [value, objectCodec(Dto, codecs, [declared([value])])];
        throw new TypeError(`oneOf takes dto classes that are read by their properties; ${read} is read otherwise`);
      };
      const spec = declared(Object.keys(branches));
      return {
        kind: 'union',
        name,
        tag: memberOf(spec, codecs, codecs.of(spec.type)),
        branches: new Map(classes.map(branchOf)),
      };
    },
  };
}

function checkBranches(tag: string, branches: Readonly<Record<string, unknown>>): void {
  requireObject(`oneOf: the dto classes by the values of ${tag}`, branches);
  for (const [value, Dto] of Object.entries(branches)) {
    const where = `oneOf: ${JSON.stringify(value)}`;
    if (!isDto(Dto)) throw new TypeError(`${where} is no dto class, one with declared properties`);
    if (propertiesOf(Dto).has(tag) || tag in (new Dto() as object))
      throw new TypeError(`${where}: ${classNameOf(Dto)} has a property ${tag} itself; remove it, oneOf adds one`);
  }
}
