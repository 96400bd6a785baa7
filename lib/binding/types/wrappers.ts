import { checkOptions, isClass, oneOf } from '../../options/check';
import { isOptional, type AnyType, type Infer, type ValueType } from './property-type';

/**
 * A type whose value may be missing; it is `undefined` then.
 * @param options with `null: 'refuse'`, JSON null is no missing value, but a wrong one.
 */
export function optional<X extends AnyType>(
  type: X,
  options: { readonly null?: 'refuse' } = {},
): ValueType<Infer<X> | undefined> {
  checkOptions('optional', options, { null: oneOf('refuse') });
  return { isOptional: true, refusesNull: options.null === 'refuse', codec: codecs => codecs.of(type) };
}

/** A type whose value may be `null`, in JSON; the text of an object is JSON, too. */
export function nullable<X extends AnyType>(type: X): ValueType<Infer<X> | null> {
  return {
    isOptional: isOptional(type),
    codec(codecs) {
      const inner = codecs.of(type);
      return { kind: 'nullable', name: inner.name, inner };
    },
  };
}

/**
 * A type that is declared further down, or refers to itself: `list(lazy(() => Node))`.
 * @param resolve called once for each middleware or serializer context, when that is made; for `bind()`, `routeValue()`
 * and the like, when they first read the type.
 * @throws TypeError if `resolve` is not a function, or is a class.
 */
export function lazy<X extends AnyType>(resolve: () => X): ValueType<Infer<X>> {
  if (typeof resolve !== 'function')
    throw new TypeError('lazy takes a function that returns the type, for example lazy(() => Node)');
  if (isClass(resolve))
    throw new TypeError(`lazy takes a function that returns the type: lazy(() => ${resolve.name || 'Node'})`);
  return {
    codec(codecs) {
      const type = resolve();
      if (isOptional(type))
        throw new TypeError(
          'lazy must not return an optional type: write optional(lazy(() => …)) instead of lazy(() => optional(…))',
        );
      return codecs.of(type);
    },
  };
}
