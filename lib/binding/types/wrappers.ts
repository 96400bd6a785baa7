import { isClass } from '../../options/check';
import type { Codec } from './codec';
import { orNull } from './json-schema';
import { isOptional, type AnyType, type Infer, type ValueType } from './property-type';

/** A type whose value may be missing; it is `undefined` then. */
export function optional<X extends AnyType>(type: X): ValueType<Infer<X> | undefined> {
  return { isOptional: true, codec: codecs => codecs.of(type) };
}

/** A type whose value may be `null`, in JSON; the text of an object is JSON, too. */
export function nullable<X extends AnyType>(type: X): ValueType<Infer<X> | null> {
  return {
    isOptional: isOptional(type),
    codec(codecs): Codec<Infer<X> | null> {
      const inner = codecs.of(type);
      return {
        ...inner,
        takesNull: true,
        fromJson: (value, location) => (value === null ? null : inner.fromJson(value, location)),
        // The text of an object is its JSON, and so is that of null; for another type, it may be a text like any other.
        ...(inner.shape === 'object' && {
          fromText: (values, location) => (isNullAlone(values) ? null : inner.fromText(values, location)),
        }),
        fromBlank: inner.fromBlank && (blank => (blank === null ? null : inner.fromBlank?.(blank))),
        schema: schemas => orNull(schemas.of(inner)),
      };
    },
  };
}

const isNullAlone = (texts: readonly string[]): boolean => texts.length === 1 && texts[0]?.trim() === 'null';

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
