import { classNameOf, type DtoClass } from '../types/property-type';
import { declarationsIn, declareProperty, isDto, propertiesOf } from './declarations';
import type { PropertySpec } from './property';

/** The names of the properties that a dto may declare: a derived class has no methods. */
type NamesOf<T> = { [K in keyof T & string]: T[K] extends (...args: never) => unknown ? never : K }[keyof T & string];

/**
 * Makes a dto class with the properties of another one, all of which may be missing. One that was not sent is not a key
 * of the dto, and JSON null is refused unless the type is `nullable`: `{ ...entity, ...dto }` is the changed entity.
 * There are no defaults, and permissions stay required.
 */
export function partial<T>(Dto: DtoClass<T>): DtoClass<{ [K in NamesOf<T>]?: T[K] }> {
  const optional = { required: false, requiresValue: false, jsonRequired: false, refusesNull: true };
  const without = { default: undefined, initial: undefined };
  return derived('partial', Dto, spec =>
    spec.kind === 'hasPermission' ? spec : Object.assign({}, spec, optional, without),
  );
}

/** Makes a dto class of some properties of another one, with their defaults and initialisers. */
export const pick = <T, const K extends NamesOf<T>>(Dto: DtoClass<T>, names: readonly K[]): DtoClass<Pick<T, K>> =>
  keeping('pick', Dto, names, name => (names as readonly string[]).includes(name));

/** Makes a dto class of the other properties of another one, with their defaults and initialisers. */
export const omit = <T, const K extends NamesOf<T>>(
  Dto: DtoClass<T>,
  names: readonly K[],
): DtoClass<Pick<T, Exclude<NamesOf<T>, K>>> =>
  keeping('omit', Dto, names, name => !(names as readonly string[]).includes(name));

/** @throws TypeError for a name that the class does not declare. */
function keeping<T>(
  owner: string,
  Dto: DtoClass<unknown>,
  names: readonly string[],
  keeps: (name: string) => boolean,
): DtoClass<T> {
  checkIsDto(owner, Dto);
  const declared = [...propertiesOf(Dto).keys()];
  const unknown = names.find(name => !declared.includes(name));
  if (unknown !== undefined) {
    const what = `${owner}: ${classNameOf(Dto)} declares no property ${JSON.stringify(unknown)}`;
    throw new TypeError(`${what}; there are: ${declared.join(', ')}`);
  }
  return derived(owner, Dto, (spec, name) => (keeps(name) ? spec : undefined), keeps);
}

/** @param keeps tells which values of a new instance of the other class the new one has at first. */
function derived<T>(
  owner: string,
  Dto: DtoClass<unknown>,
  change: (spec: PropertySpec, name: string) => PropertySpec | undefined,
  keeps: (name: string) => boolean = () => false,
): DtoClass<T> {
  checkIsDto(owner, Dto);
  function Derived(this: object): void {
    const made = Object.entries(owner === 'partial' ? {} : (new Dto() as object));
    Object.assign(this, Object.fromEntries(made.filter(([name]) => keeps(name))));
  }
  declarationsIn(Derived);
  for (const [name, spec] of propertiesOf(Dto)) {
    const changed = change(spec, name);
    if (changed) declareProperty(Derived, name, changed);
  }
  const name = `${owner.charAt(0).toUpperCase()}${owner.slice(1)}${classNameOf(Dto)}`;
  return Object.defineProperty(Derived, 'name', { value: name }) as unknown as DtoClass<T>;
}

function checkIsDto(owner: string, Dto: unknown): void {
  if (!isDto(Dto)) throw new TypeError(`${owner} takes a dto class, one with declared properties`);
}
