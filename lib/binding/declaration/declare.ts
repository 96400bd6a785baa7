import { requireObject } from '../../options/check';
import { assertType, type AnyType, type IfRequired, type Infer } from '../types/property-type';
import { bool, string } from '../types/scalar';
import { declareAll, declareProperty, namingErrors } from './declarations';
import { checkProperty, defaultOf, specOf, type Fits, type OPTIONS } from './property';
import type { PropertyKind, PropertyOptions, PropertySpec } from './property';

/** Marks the results of the functions below, and carries the type of the property's value. */
declare const VALUE: unique symbol;

/**
 * A declared property: an entry of `dto({...})`, and a decorator of a class field, standard or legacy. The conditions
 * compare `V` with the declared type of the field; a plain context parameter would compare them the wrong way round.
 */
export interface Property<V> {
  readonly [VALUE]?: V;
  /**
   * Returns the declaration for a property of this name.
   * @param shown names the property in an error. Default: its name.
   * @throws TypeError that names the property if it cannot be bound.
   */
  declaredAs(name: string, shown?: string): PropertySpec;
  <This, Declared>(value: undefined, context: ClassFieldDecoratorContext<This, Declared> & Fits<V, Declared>): void;
  <C extends object, K extends keyof C>(prototype: C, name: K & Fits<V, C[K]>): void;
}

type DeclaredAs = Property<unknown>['declaredAs'];

/** The type of a property's value, with `undefined` if it is not required and has no default. */
type Bound<T, O> = O extends { default: infer D } ? (undefined extends D ? T | undefined : T) : IfRequired<T, O>;

type OptionsOf<X, K extends PropertyKind> = Pick<PropertyOptions<Infer<X>>, (typeof OPTIONS)[K][number]>;

/** Declares a property of a kind. */
type Declare<K extends PropertyKind> = <
  X extends AnyType,
  const O extends OptionsOf<X, K> = { readonly required?: undefined } & OptionsOf<X, K>,
>(
  type: X,
  options?: O,
) => Property<Bound<Infer<X>, O>>;

/** Declares a property that takes a whole source. */
type DeclareWhole = <X extends AnyType>(type: X) => Property<Infer<X>>;

const declaring =
  <K extends PropertyKind>(kind: K): Declare<K> =>
  (type: AnyType, options?: PropertyOptions) =>
    property(kind, type, options);

/**
 * Binds from the JSON body, a form field, a route parameter or a query parameter (or those of them that the option
 * `fieldSources` names); a later source overwrites an earlier one: `?amount=9999` replaces the body's amount.
 */
export const field = declaring('field');

/** Binds from the JSON body only: no form, route or query can set or replace the value. */
export const jsonField = declaring('jsonField');

/** Binds from a form field only. */
export const formField = declaring('formField');

/** Binds from a query parameter only. */
export const queryParam = declaring('queryParam');

/** Binds from a route parameter only. */
export const routeParam = declaring('routeParam');

/** Binds the whole JSON body to this property; no other property then binds from JSON. */
export const fromBody = declaring('fromBody') as DeclareWhole;

/**
 * Binds the whole form to this property: an object whose properties are form fields (`title`, `author.name`,
 * `chapters[0].title`) or files. No other property then binds from the form.
 */
export const fromForm = declaring('fromForm') as DeclareWhole;

/**
 * Binds the whole query to this property: an object whose properties are query parameters (`page`, `filter.status`,
 * `sort[0].by`).
 */
export const fromQuery = declaring('fromQuery') as DeclareWhole;

/**
 * Binds from the claims of the caller. With `required: false`, and without `fallback: false`, a caller without the
 * claim can send any value in body, form, route or query: never declare a property that decides about identity or
 * rights like this.
 */
export const fromClaim = declaring('fromClaim');

/**
 * Binds from a request header; with `required: false` also from body, form, route and query, unless `fallback: false`.
 */
export const fromHeader = declaring('fromHeader');

/**
 * Binds from a cookie (RFC 6265); with `required: false` also from body, form, route and query, unless `fallback:
 * false`.
 */
export const fromCookie = declaring('fromCookie');

/**
 * Binds true if the caller has the permission. Otherwise, that is a failure (400, among all others), or the value
 * is false, with `required: false`. No value that a client sends can set it.
 */
export function hasPermission(name: string, options: { readonly required?: boolean } = {}): Property<boolean> {
  return property('hasPermission', bool, options, name);
}

/** Binds the whole body as text, whatever its content type. */
export const plainText = (): Property<string> => property('plainText', string);

/** @param permission the name of a permission, which is not an option. */
function property<V>(
  kind: PropertyKind,
  type: AnyType,
  options: PropertyOptions = {},
  permission?: string,
): Property<V> {
  const specify = (name: string): PropertySpec => {
    // First, because arguments in the wrong order are wrong options, too.
    assertType(type);
    checkProperty(kind, options);
    return specOf(kind, name, type, options, permission);
  };
  const declaredAs = (name: string, shown = name): PropertySpec => namingErrors(shown, () => specify(name));
  const decorator = (target: unknown, context: unknown, descriptor?: PropertyDescriptor): unknown =>
    typeof context === 'object' && context !== null
      ? decorateField(kind, declaredAs, context as ClassFieldDecoratorContext)
      : decoratePrototype(kind, declaredAs, target, context, descriptor);
  return Object.assign(decorator, { declaredAs });
}

/** Declares the property of a field with a standard decorator. */
function decorateField(kind: PropertyKind, declaredAs: DeclaredAs, context: ClassFieldDecoratorContext): unknown {
  const { name, metadata } = context;
  if ((context.kind as string) !== 'field' || typeof name !== 'string' || context.static || context.private)
    throw notBindable(kind, name);
  // Whatever its type says, the context has none if the compiler is older than decorator metadata.
  if (!(metadata as DecoratorMetadata | undefined))
    throw new TypeError(
      `${kind}: the decorator of ${name} got no context.metadata: the compiler of this class does not ` +
        "implement decorator metadata. Use TypeScript 5.2, esbuild 0.21.3 or Babel's decorators of version " +
        '2023-05, or later ones; or legacy decorators; or dto({...}), which works everywhere',
    );
  const spec = declaredAs(name);
  declareProperty(metadata, spec);
  return spec.default === undefined
    ? undefined
    : (initial: unknown) => (initial === undefined ? defaultOf(spec) : initial);
}

/** Declares the property of a field with a legacy decorator, which gets the prototype and the name. */
function decoratePrototype(
  kind: PropertyKind,
  declaredAs: DeclaredAs,
  target: unknown,
  name: unknown,
  descriptor: PropertyDescriptor = {},
): void {
  const isField =
    typeof target === 'object' && target !== null && !descriptor.value && !descriptor.get && !descriptor.set;
  if (typeof name !== 'string' || !isField)
    throw notBindable(kind, name ?? (target as { name?: unknown } | undefined)?.name);
  declareProperty(target.constructor, declaredAs(name, `${target.constructor.name}.${name}`));
}

const notBindable = (kind: PropertyKind, name: unknown): TypeError =>
  new TypeError(`${kind}: only public instance properties with a plain name can be bound, not ${String(name)}`);

/** The declarations of a dto: a bare type is `field(type)`. */
export type Shape = Readonly<Record<string, Property<unknown> | AnyType>>;

/** The properties that a shape declares. */
export type InferShape<S extends Shape> = {
  [K in keyof S]: S[K] extends Property<infer V> ? V : S[K] extends AnyType ? Infer<S[K]> : never;
};

/**
 * Makes a dto class out of a shape, to be named by extending it:
 * `class OrderLine extends dto({ sku: string, quantity: int, unitPrice: decimal }) {}`.
 * @throws TypeError if the shape is not an object, or an entry is not a type; the message names the entry.
 */
export function dto<S extends Shape>(shape: S): new () => InferShape<S> {
  requireObject('dto: the types by the names of their properties', shape);
  const specs = Object.entries(shape).map(([name, entry]) => declaredBy(name, entry));
  const defaults = specs.filter(spec => spec.default !== undefined);
  function Dto(this: object): void {
    for (const spec of defaults) Object.assign(this, { [spec.property]: defaultOf(spec) });
  }
  declareAll(Dto, specs);
  return Dto as unknown as new () => InferShape<S>;
}

function declaredBy(name: string, entry: Property<unknown> | AnyType): PropertySpec {
  const property = typeof entry === 'function' && 'declaredAs' in entry ? entry : field(entry);
  return property.declaredAs(name, `dto: property ${JSON.stringify(name)}`);
}
