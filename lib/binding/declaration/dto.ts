import type { AnyType, Infer } from '../types/property-type';
import { field, type Property } from './declare';
import { declarationsIn, declareProperty } from './declarations';
import { defaultOf, type PropertySpec } from './property';

/** The declarations of a dto: a bare type is `field(type)`. */
export type Shape = Readonly<Record<string, Property<unknown> | AnyType>>;

/** The properties that a shape declares. */
export type InferShape<S extends Shape> = {
  [K in keyof S]: S[K] extends Property<infer V> ? V : S[K] extends AnyType ? Infer<S[K]> : never;
};

/**
 * Makes a dto class out of a shape, to be named by extending it:
 * `class OrderLine extends dto({ sku: string, quantity: int, unitPrice: decimal }) {}`.
 * @throws TypeError if the shape is not an object or an entry is not a type; the message names the entry.
 */
export function dto<S extends Shape>(shape: S): new () => InferShape<S> {
  if (!isShape(shape))
    throw new TypeError(
      'dto takes an object with the type of each property, for example dto({ sku: string, quantity: int })',
    );
  const specs = Object.entries(shape).map(([name, entry]): [string, PropertySpec] => [name, specOf(name, entry)]);
  const defaults = specs.filter(([, spec]) => spec.default !== undefined);
  function Dto(this: object): void {
    for (const [name, spec] of defaults) Object.assign(this, { [name]: defaultOf(spec) });
  }
  // An endpoint that declares its responses may read nothing of its requests.
  declarationsIn(Dto);
  for (const [name, spec] of specs) declareProperty(Dto, name, spec);
  return Dto as unknown as new () => InferShape<S>;
}

const isShape = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

function specOf(name: string, entry: Property<unknown> | AnyType): PropertySpec {
  const property = typeof entry === 'function' && 'declaredAs' in entry ? entry : field(entry);
  return property.declaredAs(name, `dto: property ${JSON.stringify(name)}`);
}
