import { classNameOf } from '../types/class-name';
import type { DtoClass } from '../types/property-type';
import { propertiesOf } from './class-properties';
import { declarationsIn, declareProperty, isDto } from './declarations';
import type { PropertySpec } from './property';

/** The names of the properties that a dto may declare: a derived class has no methods. */
type NamesOf<T> = { [K in keyof T & string]: T[K] extends (...args: never) => unknown ? never : K }[keyof T & string];

/**
 * Makes a dto class with the properties of another one, all of which may be missing. One that was not sent is not a key
 * of the dto, and JSON null is refused unless the type is `nullable`: `{ ...entity, ...dto }` is the changed entity.
 * There are no defaults, and permissions stay required.
 */
export function partial<T>(Dto: DtoClass<T>): DtoClass<{ [K in NamesOf<T>]?: T[K] }> {
  return derived('partial', Dto, specs =>
    specs.map(([name, spec]) => [
      name,
      spec.kind === 'hasPermission'
        ? spec
        : Object.assign({}, spec, {
            ...{ required: false, requiresValue: false, jsonRequired: false, refusesNull: true },
            ...{ default: undefined, initial: undefined },
          }),
    ]),
  );
}

/** Makes a dto class of some properties of another one, with their defaults and initialisers. */
export function pick<T, const K extends NamesOf<T>>(Dto: DtoClass<T>, names: readonly K[]): DtoClass<Pick<T, K>> {
  const picked = declaredNames('pick', Dto, names);
  return keeping('pick', Dto, name => picked.has(name));
}

/** Makes a dto class of the other properties of another one, with their defaults and initialisers. */
export function omit<T, const K extends NamesOf<T>>(
  Dto: DtoClass<T>,
  names: readonly K[],
): DtoClass<Pick<T, Exclude<NamesOf<T>, K>>> {
  const omitted = declaredNames('omit', Dto, names);
  return keeping('omit', Dto, name => !omitted.has(name));
}

/** @throws TypeError for a name that the class does not declare. */
function declaredNames(owner: string, Dto: DtoClass<unknown>, names: readonly string[]): ReadonlySet<string> {
  checkIsDto(owner, Dto);
  const declared = [...propertiesOf(Dto).keys()];
  const unknown = names.find(name => !declared.includes(name));
  if (unknown === undefined) return new Set(names);
  const known = declared.join(', ');
  throw new TypeError(
    `${owner}: ${classNameOf(Dto)} declares no property ${JSON.stringify(unknown)}; there are: ${known}`,
  );
}

function keeping<T>(owner: string, Dto: DtoClass<unknown>, keeps: (name: string) => boolean): DtoClass<T> {
  return derived(
    owner,
    Dto,
    specs => specs.filter(([name]) => keeps(name)),
    (dto, made) => {
      for (const [name, value] of Object.entries<unknown>({ ...made }))
        if (keeps(name)) Object.assign(dto, { [name]: value });
    },
  );
}

/** @param initialise sets the values that an instance of the other class has at first. */
function derived<T>(
  owner: string,
  Dto: DtoClass<unknown>,
  change: (specs: readonly [string, PropertySpec][]) => readonly (readonly [string, PropertySpec])[],
  initialise?: (dto: object, made: object) => void,
): DtoClass<T> {
  checkIsDto(owner, Dto);
  function Derived(this: object): void {
    initialise?.(this, new Dto() as object);
  }
  declarationsIn(Derived);
  for (const [name, spec] of change([...propertiesOf(Dto)])) declareProperty(Derived, name, spec);
  const name = `${owner.charAt(0).toUpperCase()}${owner.slice(1)}${classNameOf(Dto)}`;
  return Object.defineProperty(Derived, 'name', { value: name }) as unknown as DtoClass<T>;
}

function checkIsDto(owner: string, Dto: unknown): void {
  if (!isDto(Dto)) throw new TypeError(`${owner} takes a dto class, one with declared properties`);
}
