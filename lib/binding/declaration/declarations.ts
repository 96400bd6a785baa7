import type { DtoClass } from '../types/property-type';
import type { PropertySpec } from './property';

/** TC39 decorator metadata, which no runtime has yet: compiled code looks it up when a decorated class is made. */
(Symbol as { metadata?: symbol }).metadata ??= Symbol.for('Symbol.metadata');

/**
 * Key of a class's declarations: on the class itself (dto({...}), legacy decorators) or on its metadata object
 * (standard decorators). `Symbol.for`, so that two copies of this package understand each other's classes.
 */
const PROPERTIES = Symbol.for('bindonce.properties');

/** Declared properties by name. */
export type Declarations = Map<string, PropertySpec>;
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
  const declarations = declarationsIn(holder);
  const declared = declarations.get(name);
  if (declared)
    throw new TypeError(
      `${name}: it is declared twice, with ${declared.kind} and with ${spec.kind}; use one of them, with all options`,
    );
  declarations.set(name, spec);
}

/** Returns the own declarations of a class or its metadata object; made with the first call, even if there are none. */
export function declarationsIn(holder: object): Declarations {
  if (!Object.hasOwn(holder, PROPERTIES))
    Object.defineProperty(holder, PROPERTIES, { value: new Map(), configurable: true });
  return (holder as Required<Declared>)[PROPERTIES];
}

/** Returns true if a class has declarations, its own or inherited. Those of `dto({})` are none. */
export function isDto(type: unknown): type is DtoClass<unknown> {
  return typeof type === 'function' && declarationsOf(type).next().done === false;
}

/** Yields the declarations of a class and then those of its base classes. */
export function* declarationsOf(Dto: object): Generator<Declarations> {
  for (let own: object | null = Dto; own; own = Object.getPrototypeOf(own) as object | null)
    for (const holder of [metadataOf(own), own]) {
      const declared = holder && Object.hasOwn(holder, PROPERTIES) ? (holder as Declared)[PROPERTIES] : undefined;
      if (declared) yield declared;
    }
}

function metadataOf(Dto: object): object | undefined {
  return Object.hasOwn(Dto, Symbol.metadata) ? (Dto as { [Symbol.metadata]?: object })[Symbol.metadata] : undefined;
}
