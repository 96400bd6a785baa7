import { isDeepStrictEqual } from 'node:util';
import { ownValue } from '../reading/json-text';
import type { ClassCheck, ObjectCodec } from '../types/codec';
import { classNameOf, type DtoClass } from '../types/property-type';
import { defaultOf, type PropertySpec } from './property';

/** TC39 decorator metadata, which no runtime has yet: compiled code looks it up when a decorated class is made. */
(Symbol as { metadata?: symbol }).metadata ??= Symbol.for('Symbol.metadata');

/**
 * Key of a class's declarations: on the class itself (dto({...}), legacy decorators) or on its metadata object
 * (standard decorators). `Symbol.for`, so that two copies of this package understand each other's classes.
 */
const PROPERTIES = Symbol.for('bindonce.properties');

/**
 * Runs `work`; if it throws, names the declaration in the error.
 * @throws TypeError whose cause is the first error: each declaration around it would repeat its sentence.
 */
export function namingErrors<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // The application may throw anything.
    const given = error instanceof Error ? error : new Error(String(error));
    throw new TypeError(`${where}: ${given.message}`, { cause: given.cause ?? given });
  }
}

/** Declared properties by name. */
type Declarations = Map<string, PropertySpec>;
type Declared = Partial<Record<typeof PROPERTIES, Declarations>>;

/**
 * Adds a declaration to a class or its metadata object; inherited declarations stay as they are.
 * @throws TypeError for a second declaration of a property in one class.
 */
export function declareProperty(holder: object, spec: PropertySpec): void {
  const { property: name } = spec;
  const declarations = declarationsIn(holder);
  const declared = declarations.get(name);
  if (declared)
    throw new TypeError(
      `${name}: it is declared twice, with ${declared.kind} and with ${spec.kind}; use one of them, with all options`,
    );
  declarations.set(name, spec);
}

/** Adds the declarations of a class that is made of them. */
export function declareAll(Dto: object, specs: Iterable<PropertySpec>): void {
  // An endpoint that declares its responses may read nothing of its requests.
  declarationsIn(Dto);
  for (const spec of specs) declareProperty(Dto, spec);
}

/** Returns the own declarations of a class or its metadata object; made with the first call, even if there are none. */
function declarationsIn(holder: object): Declarations {
  if (!Object.hasOwn(holder, PROPERTIES))
    Object.defineProperty(holder, PROPERTIES, { value: new Map(), configurable: true });
  return (holder as Required<Declared>)[PROPERTIES];
}

/** Returns true if a class has declarations, its own or inherited. */
export const isDto = (type: unknown): type is DtoClass<unknown> =>
  typeof type === 'function' && declarationsOf(type).length > 0;

/** Returns the declarations of the base classes of a class, and then its own. */
function declarationsOf(Dto: object | null): readonly Declarations[] {
  if (!Dto) return [];
  const metadata = Object.hasOwn(Dto, Symbol.metadata) ? (Dto as { [Symbol.metadata]?: object })[Symbol.metadata] : {};
  const own = [Dto, metadata].flatMap((holder: Declared = {}) =>
    Object.hasOwn(holder, PROPERTIES) ? (holder[PROPERTIES] ?? []) : [],
  );
  return [...declarationsOf(Object.getPrototypeOf(Dto) as object | null), ...own];
}

const known = new WeakMap<DtoClass<unknown>, ReadonlyMap<string, PropertySpec>>();

/**
 * Returns the declared properties of a class and its base classes; a derived class's declaration replaces its base's.
 * A class is complete before it can be used, so that each is looked at once.
 */
export function propertiesOf(Dto: DtoClass<unknown>): ReadonlyMap<string, PropertySpec> {
  const properties = known.get(Dto) ?? withInitialisers(Dto, new Map(declarationsOf(Dto).flatMap(one => [...one])));
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
      if (value === undefined || spec.requiresValue || spec.kind === 'hasPermission') return [name, spec];
      // A function may return another value for each request.
      if (typeof spec.default === 'function') return [name, spec];
      // An identifier or the time is another one for each instance; two dates that are made at once can be equal.
      const isTheSame = isDeepStrictEqual(value, ownValue(another, name));
      const isFixed = isTheSame && (spec.default !== undefined || !(value instanceof Date));
      return [name, Object.assign({}, spec, { required: false, default: isFixed ? value : undefined })];
    }),
  );
}

/**
 * Says how instances of a class are made: with their defaults (a legacy decorator cannot set them), without the
 * properties for which no value was found (`{ ...entity, ...dto }` must keep the entity's values), and checked.
 */
export function instancesOf(Dto: DtoClass<unknown>): Pick<ObjectCodec, 'create' | 'complete' | 'check'> {
  // Its own, or the nearest inherited one.
  const { check } = Dto as { readonly check?: unknown };
  const defaults = [...propertiesOf(Dto).values()].filter(spec => spec.default !== undefined);
  // Those of a base class that declares nothing, too, such as an entity of the application.
  const made = Object.keys(new Dto() as object);
  const complete = (dto: Readonly<Record<string, unknown>>): void => {
    for (const name of made)
      // `delete` of an absent property would make the object slow to use.
      if (dto[name] === undefined && Object.hasOwn(dto, name)) Reflect.deleteProperty(dto, name);
  };
  return {
    create() {
      const dto = new Dto() as object;
      for (const spec of defaults)
        if (ownValue(dto, spec.property) === undefined) Object.assign(dto, { [spec.property]: defaultOf(spec) });
      return dto;
    },
    // Most classes make no property themselves.
    complete: made.length > 0 ? (complete as (dto: object) => void) : undefined,
    check: typeof check === 'function' ? (dto, fail) => (check as ClassCheck).call(Dto, dto, fail) : undefined,
  };
}
